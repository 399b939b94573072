/**
 * `hickory apply`: changes some recipients of a source, in a new snapshot.
 *
 * @module
 */
import { Command } from 'commander'
import type { Upsert } from '../changes/change.js'
import { type ChangeCounts, changedSource } from '../changes/changed-source.js'
import { LastChanges } from '../changes/last-changes.js'
import { readChanges } from '../changes/read-changes.js'
import { OperatorError } from '../errors.js'
import { addBatches } from '../journal/add-batches.js'
import { limits } from '../limits.js'
import { readCurrent } from '../snapshot/directory.js'
import { type ManifestSource, readManifest } from '../snapshot/format/manifest.js'
import { readIdentities, type SourceIdentities } from '../snapshot/identities/list.js'
import { missing } from '../snapshot/load/open.js'
import { beginSnapshot } from '../snapshot/publish/begin.js'
import { readReference } from '../snapshot/retention/reference.js'
import { E164Numbers, parseNormalization } from '../sources/rows/e164.js'
import { assertServed, untilPublished } from './cluster/published.js'
import type { CommandContext } from './context.js'
import { shortenJournal } from './cut-journal.js'
import { parseSourceId, readSnapshotIds } from './ids.js'
import { endOnSignal } from './import/end-on-signal.js'
import { defaultGuards, type GivenGuards, type Guards, readGuards } from './import/guards.js'
import { isInside } from './import/outside-count.js'
import { assertUnguarded, findForced } from './import/publishable.js'
import { readKeepCount } from './keep.js'
import { lockData } from './lock-data.js'
import { print, startProgress, withoutPrinting } from './output.js'

interface Flags extends GivenGuards {
  readonly data?: string
  readonly source: string
  readonly normalize?: string
  readonly allowNullIsland?: true
  readonly allowEmpty?: true
  readonly maxShrink?: string
  readonly within?: string
  readonly json?: true
  readonly keep?: string
}

export function applyCommand(context: CommandContext): Command {
  return new Command('apply')
    .description('add, move or delete some recipients of a source, in a new snapshot')
    .argument('<FILE>', 'changes as NDJSON, or compressed as FILE.gz; - is standard input')
    .requiredOption('--source <ID>', `source to change, 0 to ${limits.sourceIdMax}`)
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option(
      '--normalize <e164:CC>',
      'write numbers as E.164; those without a calling code are of CC',
    )
    .option('--allow-null-island', 'take rows with the position 0,0')
    .option('--allow-empty', 'let the changes delete all recipients of the source')
    .option(
      '--max-shrink <N|N%>',
      `publish nothing if the source would lose more (${limits.shrinkPercent}%)`,
    )
    .option('--within <W,S,E,N>', 'publish nothing if a new position lies outside of this box')
    .option('--json', 'print one JSON document and nothing else')
    .option(
      '--keep <N>',
      `snapshots that stay, the new one among them (${limits.snapshotCount}; ${limits.snapshotCountMin} at least)`,
    )
    .addHelpText('after', HELP_TAIL)
    .action((path: string, flags: Flags) => apply(context, path, flags))
}

const HELP_TAIL = `
Each line is one change, as a JSON object:

  {"op":"upsert","number":"+99955501","lat":29.76,"lng":-95.36,"contact":"c1"}
  {"op":"delete","number":"+99955502","contact":"c2"}

Number and contact together say who is meant; whoever has no contact is meant by a change without one. Of a
source that was imported with --key, the key says it: "key":"k1", alone where "op" is "delete". After an
upsert exactly one recipient has that identity. Of several changes with the same identity the last one
counts. One bad row, and nothing is changed. To apply the same file again changes nothing.

Example:
  $ hickory apply --data ./data/local --source 1 changes.ndjson
`

async function apply(context: CommandContext, path: string, flags: Flags): Promise<void> {
  const outcome: Outcome = {}
  if (flags.json !== true) return await applyFile(context, path, flags, outcome)
  try {
    await withoutPrinting(() => applyFile(context, path, flags, outcome))
  } catch (error) {
    const { code, exitCode } =
      error instanceof OperatorError ? error : { code: 'Failed', exitCode: 1 }
    const { message } = error as Error
    print(JSON.stringify({ ...documentOf(outcome), error: { code, exitCode, message } }, null, 2))
    throw error
  }
  print(JSON.stringify({ ...documentOf(outcome), error: null }, null, 2))
}

/** What is known so far; it is filled in as the work goes on. */
interface Outcome {
  rowCount?: number
  heldCount?: number
  counts?: ChangeCounts
  /** Of the new snapshot; left out where nothing changed. */
  snapshotId?: string
}

function documentOf({ rowCount, heldCount, counts, snapshotId }: Outcome) {
  return {
    published: snapshotId !== undefined,
    snapshotId: snapshotId ?? null,
    rowCount: rowCount ?? null,
    recipientCountBefore: heldCount ?? null,
    counts: counts ?? null,
  }
}

async function applyFile(
  context: CommandContext,
  path: string,
  flags: Flags,
  outcome: Outcome,
): Promise<void> {
  const { log } = context
  const startedMs = performance.now()
  const id = parseSourceId(flags.source)
  const guards = readGuards(flags, (name) => FLAG_NAMES[name], defaultGuards)
  const { normalize } = flags
  const numbers =
    normalize === undefined
      ? undefined
      : new E164Numbers(parseNormalization(normalize, '--normalize'))
  const dataDirectory = context.dataDirectory(flags.data)
  const keepCount = readKeepCount(log, dataDirectory, flags.keep)
  // Looked at first, so that a name that is mistyped does not become a directory.
  await readSnapshotIds(dataDirectory)
  await assertServed(dataDirectory)
  const signals = endOnSignal()
  try {
    await lockData(dataDirectory, async (lock) => {
      const known = await findSource(dataDirectory, id)
      const { hasKeys, appliedSequence: since = 0 } = known.identities
      const changes = new LastChanges()
      // What was acknowledged came before the file.
      const appliedSequence = addBatches(dataDirectory, id, since, changes)
      const allowsNullIsland = flags.allowNullIsland === true
      const rules = { hasKeys, allowsNullIsland, numbers }
      const rowCount = await readChanges(path, rules, changes)
      outcome.rowCount = rowCount
      outcome.heldCount = known.source.recipientCount
      const { counts, columns } = await withProgress(context, known.source, (onProgress) =>
        changedSource(known, changes, onProgress),
      )
      outcome.counts = counts
      printCounts(known.source, rowCount, counts)
      if (columns === undefined) {
        print('unchanged  all of it is so already: nothing was published')
        return
      }
      const mayBeEmpty = flags.allowEmpty === true
      const source = { id, guards, policy: defaultGuards, mayBeEmpty }
      const forced = await guarded(dataDirectory, source, counts, changes)
      const options = { log, keepCount, endsOnSignal: false, onCommit: signals.hold }
      const draft = await beginSnapshot(lock, options)
      try {
        await draft.put({ id, label: known.source.label }, columns, {
          forced,
          appliedSequence,
        })
        outcome.snapshotId = (await draft.publish()).snapshotId
        await shortenJournal(lock, log)
      } finally {
        await draft.discard()
      }
      context.record?.({ sourceId: id, ...counts })
      print(`snapshot   ${outcome.snapshotId}`)
    })
    print(`time       ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  } finally {
    signals.forget()
  }
  if (outcome.snapshotId !== undefined) await untilPublished(dataDirectory, outcome.snapshotId)
}

const FLAG_NAMES = {
  maxRejected: '--max-rejected',
  maxShrink: '--max-shrink',
  minRows: '--min-rows',
  within: '--within',
} as const satisfies Record<keyof GivenGuards, string>

interface KnownSource {
  readonly dataDirectory: string
  readonly snapshotId: string
  readonly source: ManifestSource
  readonly identities: SourceIdentities
}

/** @throws OperatorError  `Usage`, where there is no such source, or it is not known who is who in it */
async function findSource(dataDirectory: string, id: number): Promise<KnownSource> {
  const snapshotId = await readCurrent(dataDirectory)
  if (snapshotId === undefined) throw missing(dataDirectory)
  const { sources } = await readManifest(dataDirectory, snapshotId)
  const source = sources.find((source) => source.id === id)
  if (source === undefined) {
    const ids = sources.map(({ id }) => id).join(', ')
    throw new OperatorError('Usage', `there is no source ${id}; there are ${ids || 'none'}`)
  }
  const known = await readIdentities(dataDirectory, snapshotId)
  const identities = known.find((each) => each.id === id)
  if (identities !== undefined) return { dataDirectory, snapshotId, source, identities }
  throw new OperatorError(
    'Usage',
    `source ${id} was imported by an earlier version of Hickory, which kept no keys and contacts: import it once more`,
  )
}

async function withProgress<Result>(
  { log }: CommandContext,
  { recipientCount }: ManifestSource,
  work: (onProgress: (doneCount: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = startProgress(log, 'applying', recipientCount, 'recipients')
  try {
    return await work(progress.update)
  } finally {
    progress.stop()
  }
}

/**
 * Which guards were overruled.
 *
 * @throws OperatorError  `Guarded`, naming every guard that trips
 */
async function guarded(
  dataDirectory: string,
  source: { id: number; guards: Guards; policy: Guards; mayBeEmpty: boolean },
  { recipientCount }: ChangeCounts,
  { byIdentity }: LastChanges,
): Promise<string[]> {
  const reference = await readReference(dataDirectory)
  const heldCount = reference.heldCounts.get(source.id)
  if (recipientCount === 0 && !source.mayBeEmpty) {
    throw new OperatorError(
      'Guarded',
      `nothing was published: the changes delete all ${heldCount} recipients of source ${source.id}; ` +
        '--allow-empty lets them',
    )
  }
  const { within } = source.guards
  const isOutside = (upsert: Upsert) =>
    within !== undefined && !isInside(within, upsert.lng, upsert.lat)
  let outsideCount = 0
  for (const change of byIdentity.values()) {
    if (change.op === 'upsert' && isOutside(change)) outsideCount++
  }
  const counted = { rowCount: recipientCount, acceptedCount: recipientCount, rejectedCount: 0 }
  const reading = { report: counted, outsideCount }
  assertUnguarded(source, reading, heldCount)
  return findForced(source, reading, reference)
}

function printCounts(
  { id, label, recipientCount }: ManifestSource,
  rowCount: number,
  to: ChangeCounts,
) {
  print(`source     ${id} ${label}`)
  print(`rows read  ${rowCount}`)
  print(`added      ${to.addedCount}`)
  print(`changed    ${to.changedCount}`)
  print(`unchanged  ${to.unchangedCount}`)
  print(`deleted    ${to.deletedCount}`)
  print(`not there  ${to.absentCount} that were to be deleted`)
  print(`recipients ${recipientCount} before, ${to.recipientCount} now`)
}
