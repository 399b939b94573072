/**
 * Reads sources one after the other into a new snapshot. When it has all of them, it becomes the
 * current one.
 *
 * @module
 */
import { join } from 'node:path'
import { TEMPORARY } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { journalDirectory } from '../../journal/files.js'
import { JournalReader } from '../../journal/reader.js'
import { limits } from '../../limits.js'
import type { RecipientColumns } from '../../shard/columns.js'
import { snapshotsDirectory } from '../../snapshot/directory.js'
import { beginSnapshot } from '../../snapshot/publish/begin.js'
import type { Draft, Published } from '../../snapshot/publish/draft.js'
import type { DataLock } from '../../snapshot/publish/lock.js'
import { type Reference, readReference } from '../../snapshot/retention/reference.js'
import { RecipientCollector } from '../../sources/columns/collector.js'
import { assertServed, untilPublished } from '../cluster/published.js'
import type { CommandContext } from '../context.js'
import { shortenJournal } from '../cut-journal.js'
import { lockData } from '../lock-data.js'
import { print, startProgress, warn } from '../output.js'
import { endOnSignal } from './end-on-signal.js'
import type { ImportRecord } from './json-report.js'
import { assertPublishable, findForced } from './publishable.js'
import { type Outcome, printReport, printSource, printSummary, printTime } from './report.js'
import { type ImportSource, labelSources, type Reading, readSource } from './source.js'

interface PublishPlan {
  readonly dataDirectory: string
  readonly sources: readonly ImportSource[]
  /** Whether they are of a list, which is summed up in the end. */
  readonly isList: boolean
  /** Whether those that can be read are published without the others. */
  readonly keepsGoing: boolean
  /** Gets what becomes of the sources. */
  readonly record: ImportRecord
  /** Snapshots that stay. */
  readonly keepCount: number
}

/** Publishes one snapshot with all of the sources, or throws and changes nothing. */
export async function publishSources(context: CommandContext, plan: PublishPlan): Promise<void> {
  const startedMs = performance.now()
  await assertServed(plan.dataDirectory)
  const signals = endOnSignal()
  let outcomes: readonly Outcome[] = []
  try {
    await lockData(plan.dataDirectory, async (lock) => {
      outcomes = await publishUnderLock(context, plan, lock, signals.hold)
      await shortenJournal(lock, context.log)
      printTime(startedMs)
    })
  } finally {
    signals.forget()
  }
  const { snapshotId } = plan.record
  if (snapshotId !== undefined) await untilPublished(plan.dataDirectory, snapshotId)
  assertNoneFailed(outcomes)
}

async function publishUnderLock(
  context: CommandContext,
  plan: PublishPlan,
  lock: DataLock,
  onCommit: () => void,
): Promise<Outcome[]> {
  const sources = await labelSources(plan.dataDirectory, plan.sources)
  const { outcomes } = plan.record
  const { log } = context
  const { keepCount } = plan
  let draft: Draft | undefined
  const begin = async () => {
    draft ??= await beginSnapshot(lock, { log, keepCount, endsOnSignal: false, onCommit })
    return draft
  }
  try {
    const reference = await readReference(plan.dataDirectory)
    for (const source of sources) {
      outcomes.push(await putSource(context, plan, source, { reference, begin, outcomes }))
    }
    if (!plan.keepsGoing) assertNoneTripped(plan, outcomes)
    const published = draft && (await publishDraft(context, draft))
    if (plan.isList) printSummary(outcomes, published?.isUnchanged ? 'unchanged' : 'published')
    if (published === undefined) {
      const code = outcomes.every(({ hasTripped }) => hasTripped) ? 'Guarded' : 'InputRejected'
      throw new OperatorError(code, 'every source failed, nothing was published')
    }
    plan.record.isUnchanged = published.isUnchanged
    context.record?.({
      isUnchanged: published.isUnchanged,
      sources: outcomes.map(({ id, report, failure }) => ({
        id,
        count: report?.acceptedCount,
        isPublished: failure === undefined,
      })),
    })
    if (!published.isUnchanged) plan.record.snapshotId = published.snapshotId
    if (published.isUnchanged) {
      print('unchanged  what was read is what is current: nothing was published')
    }
    print(`snapshot   ${published.snapshotId}`)
    return outcomes
  } finally {
    await draft?.discard()
  }
}

interface Run {
  readonly reference: Reference
  readonly begin: () => Promise<Draft>
  /** Of the sources before this one. */
  readonly outcomes: readonly Outcome[]
}

/** Reads one source and writes it; what it took of memory is free again when this returns. */
async function putSource(
  { log }: CommandContext,
  plan: PublishPlan,
  source: ImportSource & { readonly label: string },
  { reference, begin, outcomes }: Run,
): Promise<Outcome> {
  const { id, label } = source
  printSource(id, label)
  // What was changed before the input is opened, the input replaces; what comes after it stays.
  const appliedSequence = journalSequence(plan.dataDirectory)
  const collector = new RecipientCollector()
  let reading: Reading | undefined
  let columns: RecipientColumns
  try {
    const spool = join(snapshotsDirectory(plan.dataDirectory), `spool${TEMPORARY}`)
    reading = await readSource(log, source, collector, spool)
    printReport(reading.report)
    assertPublishable(source, reading, reference.heldCounts.get(id))
    columns = await collector.finish()
  } catch (error) {
    const failure = failureOf(error, plan, outcomes, id)
    const hasTripped = isGuarded(error)
    return { id, label, report: reading?.report, failure, hasTripped }
  }
  const done = { id, label, report: reading.report, failure: undefined, hasTripped: false }
  // It is only checked, like those that follow, so that one run names all that do not pass.
  if (!plan.keepsGoing && outcomes.some(({ hasTripped }) => hasTripped)) return done
  warnOfLabel(source, reference.heldLabels.get(id))
  const draft = await begin()
  const total = columns.recipientCount
  const progress = startProgress(log, 'building and writing', total, 'recipients')
  try {
    const forced = findForced(source, reading, reference)
    await draft.put({ id, label }, columns, {
      onProgress: progress.update,
      forced,
      appliedSequence,
    })
  } finally {
    progress.stop()
  }
  return done
}

/** Of the last batch of changes that is on disk; 0 where there is none. */
function journalSequence(dataDirectory: string): number {
  const journal = new JournalReader(journalDirectory(dataDirectory))
  try {
    return journal.head().sequence
  } finally {
    journal.close()
  }
}

/** The name of one source for the id of another is how its recipients take the place of the wrong ones. */
function warnOfLabel({ id, label }: { id: number; label: string }, heldLabel = label): void {
  if (heldLabel === label) return
  warn(
    `source ${id} was called "${heldLabel}" and becomes "${label}": if another id was meant, ` +
      '`hickory rollback` undoes this import',
  )
}

/** Says why a source is left out, or throws if nothing may be. */
function failureOf(
  error: unknown,
  plan: PublishPlan,
  outcomes: readonly Outcome[],
  id: number,
): string {
  if (!(error instanceof OperatorError) || !plan.isList) throw error
  if (!plan.keepsGoing && !isGuarded(error)) {
    const trips = outcomes.filter(({ hasTripped }) => hasTripped).map(textOf)
    const texts = [`source ${id}: ${error.message}`, ...trips].join('; ')
    throw new OperatorError(error.code, texts, { cause: error })
  }
  print(`failed     ${error.message}`)
  return error.message
}

function isGuarded(error: unknown): boolean {
  return error instanceof OperatorError && error.code === 'Guarded'
}

/** After all sources were read, so that the message names all that a guard holds back. */
function assertNoneTripped({ isList }: PublishPlan, outcomes: readonly Outcome[]): void {
  const tripped = outcomes.filter(({ hasTripped }) => hasTripped)
  if (tripped.length === 0) return
  if (isList) printSummary(outcomes, 'not published')
  throw new OperatorError('Guarded', tripped.map(textOf).join('; '))
}

function textOf({ id, failure }: Outcome): string {
  return `source ${id}: ${failure}`
}

async function publishDraft({ log }: CommandContext, draft: Draft): Promise<Published> {
  const progress = startProgress(log, 'verifying and publishing', 1, 'snapshot')
  try {
    const published = await draft.publish({ changedAlone: true })
    progress.update(1)
    return published
  } finally {
    progress.stop()
  }
}

function assertNoneFailed(outcomes: readonly Outcome[]): void {
  const failed = outcomes.filter(({ failure }) => failure !== undefined)
  if (failed.length === 0) return
  const shown = failed.slice(0, limits.failuresShownCount)
  const rest = failed.length > shown.length ? ', …' : ''
  throw new OperatorError(
    'PartlyImported',
    `${failed.length} of ${outcomes.length} sources failed and keep the recipients that they had ` +
      `before: ${shown.map(({ id }) => id).join(', ')}${rest}`,
  )
}
