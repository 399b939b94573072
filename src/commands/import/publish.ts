/**
 * Reads sources one after the other into a new snapshot. When it has all of them, it becomes the
 * current one.
 *
 * @module
 */
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { RecipientColumns } from '../../shard/columns.js'
import { snapshotsDirectory, TEMPORARY } from '../../snapshot/directory.js'
import { beginSnapshot } from '../../snapshot/publish/begin.js'
import type { Draft } from '../../snapshot/publish/draft.js'
import { type DataLock, withDataLock } from '../../snapshot/publish/lock.js'
import type { ReadReport } from '../../sources/batch.js'
import { RecipientCollector } from '../../sources/columns/collector.js'
import type { CommandContext } from '../context.js'
import { print, startProgress } from '../output.js'
import { endOnSignal } from './end-on-signal.js'
import { type Outcome, printReport, printSource, printSummary, printTime } from './report.js'
import { assertPublishable, type ImportSource, labelSources, readSource } from './source.js'

interface PublishPlan {
  readonly dataDirectory: string
  readonly sources: readonly ImportSource[]
  /** Whether they are of a list, which is summed up in the end. */
  readonly isList: boolean
  /** Whether those that can be read are published without the others. */
  readonly keepsGoing: boolean
}

/** Publishes one snapshot with all of the sources, or throws and changes nothing. */
export async function publishSources(context: CommandContext, plan: PublishPlan): Promise<void> {
  const startedMs = performance.now()
  const signals = endOnSignal()
  try {
    await withDataLock(plan.dataDirectory, async (lock) => {
      const outcomes = await publishUnderLock(context, plan, lock, signals.hold)
      printTime(startedMs)
      assertNoneFailed(outcomes)
    })
  } finally {
    signals.forget()
  }
}

async function publishUnderLock(
  context: CommandContext,
  plan: PublishPlan,
  lock: DataLock,
  onCommit: () => void,
): Promise<Outcome[]> {
  const sources = await labelSources(plan.dataDirectory, plan.sources)
  const outcomes: Outcome[] = []
  let draft: Draft | undefined
  const begin = async () => {
    draft ??= await beginSnapshot(lock, { log: context.log, endsOnSignal: false, onCommit })
    return draft
  }
  try {
    for (const source of sources) {
      outcomes.push(await putSource(context, plan, source, begin))
    }
    const snapshotId = draft && (await publishDraft(context, draft))
    if (plan.isList) printSummary(outcomes, 'published')
    if (snapshotId === undefined) {
      throw new OperatorError('InputRejected', 'every source failed, nothing was published')
    }
    print(`snapshot   ${snapshotId}`)
    return outcomes
  } finally {
    await draft?.discard()
  }
}

/** Reads one source and writes it; what it took of memory is free again when this returns. */
async function putSource(
  { log }: CommandContext,
  plan: PublishPlan,
  source: ImportSource & { readonly label: string },
  begin: () => Promise<Draft>,
): Promise<Outcome> {
  const { id, label } = source
  printSource(id, label)
  const collector = new RecipientCollector()
  let report: ReadReport | undefined
  let columns: RecipientColumns
  try {
    const spool = join(snapshotsDirectory(plan.dataDirectory), `spool${TEMPORARY}`)
    report = await readSource(log, source, collector, spool)
    printReport(report)
    await assertPublishable(plan.dataDirectory, source, report)
    columns = await collector.finish()
  } catch (error) {
    return { id, label, report, failure: failureOf(error, plan, id) }
  }
  const draft = await begin()
  const total = columns.recipientCount
  const progress = startProgress(log, 'building and writing', total, 'recipients')
  try {
    await draft.put({ id, label }, columns, { onProgress: progress.update })
  } finally {
    progress.stop()
  }
  return { id, label, report, failure: undefined }
}

/** Says why a source is left out, or throws if nothing may be. */
function failureOf(error: unknown, { isList, keepsGoing }: PublishPlan, id: number): string {
  if (!(error instanceof OperatorError) || !isList) throw error
  if (!keepsGoing) {
    throw new OperatorError(error.code, `source ${id}: ${error.message}`, { cause: error })
  }
  print(`failed     ${error.message}`)
  return error.message
}

async function publishDraft({ log }: CommandContext, draft: Draft): Promise<string> {
  const progress = startProgress(log, 'verifying and publishing', 1, 'snapshot')
  try {
    const { snapshotId } = await draft.publish()
    progress.update(1)
    return snapshotId
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
