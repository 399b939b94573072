/**
 * `hickory compact`: makes a snapshot with the changes of the journal, and removes what is in the journal for no
 * snapshot any more.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { changedSource } from '../changes/changed-source.js'
import type { LastChanges } from '../changes/last-changes.js'
import { OperatorError } from '../errors.js'
import { collectBatches } from '../journal/collect-batches.js'
import { JournalGone } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal } from '../journal/reader.js'
import { summaryOfJournal } from '../journal/summary.js'
import { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import { readCurrent, snapshotsDirectory } from '../snapshot/directory.js'
import { type ManifestSource, readManifest } from '../snapshot/format/manifest.js'
import { readIdentities, readImportId, type SourceIdentities } from '../snapshot/identities/list.js'
import { missing } from '../snapshot/load/open.js'
import { beginSnapshot } from '../snapshot/publish/begin.js'
import type { Draft } from '../snapshot/publish/draft.js'
import { type DataLock, withCompactionLock } from '../snapshot/publish/lock.js'
import { prune, removeTemporaries } from '../snapshot/publish/make-current.js'
import { type Reference, readReference } from '../snapshot/retention/reference.js'
import { assertServed, untilPublished } from './cluster/published.js'
import type { CommandContext } from './context.js'
import { shortenJournal } from './cut-journal.js'
import { readSnapshotIds } from './ids.js'
import { endOnSignal, type SignalWatch } from './import/end-on-signal.js'
import { print, startProgress, warn } from './output.js'
import { formatBytes } from './quantities.js'

interface Flags {
  readonly data?: string
  readonly keep?: string
  readonly atLeast?: string
}

export function compactCommand(context: CommandContext): Command {
  return new Command('compact')
    .description('put the changes of the journal into a new snapshot, and shorten the journal')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option(
      '--keep <N>',
      `remove the snapshots of all imports but the newest N, and what the journal has for them alone (1 to ${limits.snapshotCountMax}; default: remove none)`,
    )
    .option(
      '--at-least <N>',
      'publish nothing if fewer than N recipients came or went by changes since the snapshot',
    )
    .addHelpText('after', HELP_TAIL)
    .action((flags: Flags) => compact(context, flags))
}

const HELP_TAIL = `
Changes that come over HTTP or from a database are in the journal of the data directory, and running services
have them in memory. This command makes a snapshot of the current one and the journal as it is when the command
begins. Answers stay the same: services take the new snapshot, and go on with the changes that came since. Then
the files of the journal are removed that no snapshot needs any more.

A service starts this command by itself when it has many changes. The new snapshot takes the place of the one
that it was made from: \`hickory rollback\` goes back by imports, not by compactions. Imports and other commands wait
for the end of a compaction; while one of them runs, a compaction is refused.

Whoever goes back to an older import gets the changes that came since, so that the journal begins with the oldest
snapshot. Where nobody imports any more, --keep 1 lets go of earlier imports.

Example:
  $ hickory compact --data ./data/local
  $ hickory compact --data ./data/local --keep 1
`

async function compact(context: CommandContext, flags: Flags): Promise<void> {
  const startedMs = performance.now()
  context.lowerPriority?.()
  const dataDirectory = context.dataDirectory(flags.data)
  const keepCount = readCount('--keep', flags.keep, limits.snapshotCountMax)
  const leastCount = readCount('--at-least', flags.atLeast, Number.MAX_SAFE_INTEGER) ?? 0
  // Looked at first, so that a name that is mistyped does not become a directory.
  await readSnapshotIds(dataDirectory)
  // A service asks for some changes at least, and announces itself what comes of it.
  const isOfService = flags.atLeast !== undefined
  if (!isOfService) await assertServed(dataDirectory)
  const signals = endOnSignal()
  let snapshotId: string | undefined
  const work = async (lock: DataLock) => {
    const upTo = await settledSequence(dataDirectory)
    if (upTo === 0) {
      print('unchanged  there is no change in the journal: nothing was published')
      return
    }
    snapshotId = await compactUpTo(context, lock, { upTo, leastCount, signals })
    // Of a compaction that was killed when it was done but for this.
    if (snapshotId === undefined) await removeTemporaries(snapshotsDirectory(dataDirectory))
    if (keepCount !== undefined) await pruneTo(context, dataDirectory, keepCount)
    await shorten(context, lock)
  }
  await withCompactionLock(dataDirectory, work).finally(signals.forget)
  if (snapshotId !== undefined && !isOfService) await untilPublished(dataDirectory, snapshotId)
  print(`time       ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
}

/** One snapshot is enough here: what a compaction replaces stays beside it. */
function readCount(name: string, flag: string | undefined, most: number): number | undefined {
  if (flag === undefined) return undefined
  const count = Number(flag)
  if (/^[0-9]+$/.test(flag) && count >= 1 && count <= most) return count
  throw new OperatorError('Usage', `${name} is a whole number from 1 to ${most}, not "${flag}"`)
}

async function pruneTo({ log }: CommandContext, dataDirectory: string, keepCount: number) {
  const currentId = await readCurrent(dataDirectory)
  if (currentId !== undefined) await prune(dataDirectory, { currentId, keepCount }, log)
}

/**
 * The last batch, after what a writer left that died; 0 where there is no journal. In a cluster the last one on which
 * it agrees.
 */
async function settledSequence(dataDirectory: string): Promise<number> {
  const directory = journalDirectory(dataDirectory)
  if (!existsSync(directory)) return 0
  if (isClusterJournal(directory)) return summaryOfJournal(directory)?.lastSequence ?? 0
  const writer = new JournalWriter({ directory })
  try {
    return writer.prepare().sequence
  } finally {
    await writer.release()
  }
}

interface Work {
  readonly upTo: number
  /** Recipients that must come or go, so that it is worth a snapshot. */
  readonly leastCount: number
  readonly signals: SignalWatch
}

/** @returns the last snapshot that was published; undefined where none was */
async function compactUpTo(
  context: CommandContext,
  lock: DataLock,
  { upTo, leastCount, signals }: Work,
): Promise<string | undefined> {
  let published: string | undefined
  for (;;) {
    const isNew = published !== undefined
    const base = await readCompactable(lock.dataDirectory)
    const since = new Map(
      base.identities.map(({ id, appliedSequence = 0 }) => [id, appliedSequence]),
    )
    assertInJournal(since, upTo)
    if ([...since.values()].every((sequence) => sequence === upTo)) {
      if (!isNew) {
        print(`unchanged  the snapshot has all changes up to batch ${upTo}: nothing was published`)
      }
      return published
    }
    const batches = await collected(base, since, upTo)
    if (!isNew && batches.mostCount < leastCount) {
      print(`unchanged  fewer than ${leastCount} recipients came or went: nothing was published`)
      return undefined
    }
    if (isNew) signals.resume('some of the changes are in a new snapshot')
    published = await publish(context, lock, base, { ...batches, onCommit: signals.hold })
  }
}

/** The current snapshot, and what changes find its recipients by. */
interface Base {
  readonly dataDirectory: string
  readonly snapshotId: string
  readonly importId: string
  readonly sources: readonly ManifestSource[]
  readonly identities: readonly SourceIdentities[]
  readonly reference: Reference
}

async function readCompactable(dataDirectory: string): Promise<Base> {
  const snapshotId = await readCurrent(dataDirectory)
  if (snapshotId === undefined) throw missing(dataDirectory)
  const { sources } = await readManifest(dataDirectory, snapshotId)
  const identities = await readIdentities(dataDirectory, snapshotId)
  const importId = (await readImportId(dataDirectory, snapshotId)) ?? snapshotId
  const reference = await readReference(dataDirectory)
  if (identities.length > 0) {
    return { dataDirectory, snapshotId, importId, sources, identities, reference }
  }
  throw new OperatorError(
    'Usage',
    `no source of ${snapshotId} takes changes: ${WITHOUT_IDENTITIES}`,
  )
}

const WITHOUT_IDENTITIES =
  'it was imported by an earlier version of Hickory, which kept no keys and contacts; import it once more'

/** @throws OperatorError  where a snapshot has batches that the journal never had */
function assertInJournal(since: ReadonlyMap<number, number>, upTo: number): void {
  const ahead = [...since].filter(([, sequence]) => sequence > upTo)
  if (ahead.length === 0) return
  throw new OperatorError(
    'JournalDamaged',
    `the snapshot has changes up to batch ${Math.max(...ahead.map(([, sequence]) => sequence))}, and the journal ` +
      `ends with ${upTo}: it is another one than before; ${importAgain(ahead)}`,
  )
}

/** A snapshot with as many batches as there was memory for. */
async function publish(
  context: CommandContext,
  lock: DataLock,
  base: Base,
  {
    bySource,
    reached,
    onCommit,
  }: Awaited<ReturnType<typeof collected>> & { readonly onCommit: () => void },
): Promise<string> {
  const draft = await beginSnapshot(lock, {
    log: context.log,
    endsOnSignal: false,
    onCommit,
    keepCount: Number.POSITIVE_INFINITY,
  })
  try {
    // What was read of it goes as soon as it is written.
    for (const [id, changes] of [...bySource].sort(([left], [right]) => left - right)) {
      await putSource(context, draft, base, { id, changes })
    }
    const compaction = { appliedSequence: reached, importId: base.importId }
    const { snapshotId } = await draft.publish({ compaction })
    context.record?.({ appliedSequence: reached })
    print(`batches    up to ${reached}`)
    print(`snapshot   ${snapshotId}`)
    return snapshotId
  } finally {
    await draft.discard()
  }
}

async function collected(base: Base, since: ReadonlyMap<number, number>, upTo: number) {
  const directory = journalDirectory(base.dataDirectory)
  const heldCount = limits.compactionHeldCount
  try {
    const batches = await collectBatches(directory, { since, upTo, heldCount })
    for (const { id } of base.sources) {
      if (batches.otherIds.has(id)) {
        warn(`changes of source ${id} are left out: ${WITHOUT_IDENTITIES}`)
      }
    }
    return batches
  } catch (fault) {
    if (!(fault instanceof JournalGone)) throw fault
    const { firstSequence } = fault
    const behind = [...since].filter(([, sequence]) => sequence + 1 < firstSequence)
    throw new OperatorError('JournalDamaged', `${fault.message}; ${importAgain(behind)}`)
  }
}

function importAgain(sources: readonly (readonly [id: number, sequence: number])[]): string {
  const ids = sources.map(([id]) => id).join(', ')
  return `import source${sources.length > 1 ? 's' : ''} ${ids} again`
}

async function putSource(
  { log }: CommandContext,
  draft: Draft,
  base: Base,
  { id, changes }: { readonly id: number; readonly changes: LastChanges },
): Promise<void> {
  const source = base.sources.find((source) => source.id === id)
  const identities = base.identities.find((source) => source.id === id)
  if (source === undefined || identities === undefined) return
  const applying = startProgress(log, 'applying', source.recipientCount, 'recipients')
  const known = { ...base, source, identities }
  const { counts, columns } = await changedSource(known, changes, applying.update).finally(() =>
    applying.stop(),
  )
  const { addedCount, changedCount, deletedCount, recipientCount } = counts
  print(
    `source     ${id} ${source.label}: ${addedCount} added, ${changedCount} changed, ${deletedCount} deleted, ` +
      `${recipientCount} recipients`,
  )
  // As the import was judged: nobody overrules a guard by a compaction, or makes good what was forced.
  const { forced = [] } = base.reference.sources.find((known) => known.id === id) ?? {}
  if (columns === undefined) return
  const writing = startProgress(log, 'building and writing', recipientCount, 'recipients')
  await draft
    .put({ id, label: source.label }, columns, { onProgress: writing.update, forced })
    .finally(() => writing.stop())
}

async function shorten({ log }: CommandContext, lock: DataLock): Promise<void> {
  const cut = await shortenJournal(lock, log)
  if (cut?.needed === undefined) return
  const { removedCount, needed, byteLength } = cut
  const files = removedCount === 1 ? '1 file' : `${removedCount} files`
  print(
    `journal    ${files} removed; ${needed.snapshotId} needs what comes after batch ${needed.appliedSequence}`,
  )
  if (byteLength < limits.journalLargeBytes) return
  warn(
    `the journal takes ${formatBytes(byteLength)}, since ${needed.snapshotId} needs what comes after batch ` +
      `${needed.appliedSequence}: \`hickory compact --keep 1\` removes the snapshots of earlier imports, but for ` +
      'those that are pinned (`hickory unpin`) and the newest good one (`hickory accept`)',
  )
}
