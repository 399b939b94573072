/**
 * A snapshot into memory: its files into rooms, verified, and what belongs together put together.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Room } from '../../shard/arena.js'
import type { ArenaPool } from '../../shard/arena-pool.js'
import type { Repeats } from '../../shard/duplicates/find-repeats.js'
import { attachShard, type ShardImage } from '../../shard/layout.js'
import { findSharedContacts, type SharedContacts } from '../../shard/ties/contact-use.js'
import { type RankedSet, rankedSetLength } from '../../shard/ties/ranked-set.js'
import { snapshotsDirectory } from '../directory.js'
import { filesOf, type Manifest, type ManifestSource, readManifest } from '../format/manifest.js'
import { marksIn, roomBytesOf, tiedSetsIn } from '../format/shard-image.js'
import { readIdentities } from '../identities/list.js'
import { holdersOf, readPlacement } from '../placement.js'
import type { Snapshot, SnapshotSource } from '../snapshot.js'
import { type LoadRunner, runHere } from './load-piece.js'
import { runOnThreads } from './load-threads.js'
import { planAlone, planRepeats } from './plan-piece.js'

/** Called with the bytes that are read so far, and with all there are. */
type OnProgress = (doneBytes: number, totalBytes: number) => void

export interface LoadOptions {
  readonly onProgress?: OnProgress | undefined
  /** Of the compiled workers/load.ts, to load on several threads; on this one unless given. */
  readonly loaderUrl?: URL
  /** To give up soon. */
  readonly stopping?: AbortSignal | undefined
  /** The name of this machine, which may hold some of the shards (placement.ts); it holds all unless given. */
  readonly machine?: string | undefined
  /**
   * Whether a damaged list of identities is damage of the snapshot, since another machine may have a whole one. Not unless
   * given: then answers are without the changes behind the snapshot.
   */
  readonly needsIdentities?: boolean | undefined
}

/**
 * Loads a snapshot into arenas of the pool, which are given back if that fails.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function loadSnapshot(
  dataDirectory: string,
  id: string,
  arenas: ArenaPool,
  options: LoadOptions = {},
): Promise<Snapshot> {
  const manifest = await readManifest(dataDirectory, id)
  const holders = await holdersFor(dataDirectory, manifest, options.machine)
  const holds: Holds = (place) =>
    holders === undefined ||
    options.machine === undefined ||
    holders[place].includes(options.machine)
  const rooms = arenas.take(roomBytesFor(manifest, holds))
  let runner: LoadRunner | undefined
  try {
    runner = runnerFor(manifest, options)
    const snapshot = await load(
      join(snapshotsDirectory(dataDirectory), id),
      manifest,
      rooms,
      runner,
      holds,
    )
    const sources = await withIdentities(dataDirectory, snapshot, options)
    await runner.close()
    return { ...snapshot, holders, sources }
  } catch (error) {
    await runner?.close()
    arenas.giveBack(rooms)
    throw error
  }
}

export function summaryOf(source: ManifestSource): SnapshotSource {
  const { id, label, recipientCount, contactCount } = source
  return { id, label, recipientCount, contactCount }
}

/** Where the list of identities is damaged, all answers are as without it; who verifies is told. */
async function withIdentities(
  dataDirectory: string,
  { id, sources }: Pick<Snapshot, 'id' | 'sources'>,
  { needsIdentities = false }: LoadOptions,
): Promise<SnapshotSource[]> {
  const known = await readIdentities(dataDirectory, id).catch((fault: unknown) => {
    if (needsIdentities) throw fault
    return []
  })
  return sources.map((source) => {
    const identities = known.find((each) => each.id === source.id)
    if (identities === undefined) return source
    const { hasKeys, appliedSequence } = identities
    return { ...source, hasKeys, ...(appliedSequence !== undefined && { appliedSequence }) }
  })
}

type Holds = (place: number) => boolean

/** By place, the machines that hold a shard; undefined where each holds all. */
async function holdersFor(
  dataDirectory: string,
  manifest: Manifest,
  machine: string | undefined,
): Promise<Snapshot['holders']> {
  if (machine === undefined) return undefined
  const placement = await readPlacement(dataDirectory, manifest.id)
  if (placement === undefined) return undefined
  const shards = manifest.sources.flatMap(({ id: sourceId, shards: own }) =>
    own.map(({ recipientCount }, regionIndex) => ({ sourceId, regionIndex, recipientCount })),
  )
  return holdersOf(placement, shards)
}

/** One for each shard that is held, then one for the repeats if they are in a file. */
function roomBytesFor(manifest: Manifest, holds: Holds): number[] {
  const shards = shardsOf(manifest)
    .filter((_, place) => holds(place))
    .map(({ entry }) => roomBytesOf(entry.byteLength, entry.recipientCount))
  return 'repeats' in manifest ? [...shards, manifest.repeats.byteLength] : shards
}

function shardsOf({ sources }: Manifest) {
  return sources.flatMap((source) => source.shards.map((entry) => ({ source, entry })))
}

function runnerFor(manifest: Manifest, options: LoadOptions): LoadRunner {
  const { onProgress, loaderUrl, stopping } = options
  const totalBytes = filesOf(manifest).reduce((sum, { byteLength }) => sum + byteLength, 0)
  let doneBytes = 0
  const onRead = (pieceBytes: number) => {
    doneBytes += pieceBytes
    onProgress?.(doneBytes, totalBytes)
  }
  const threadCount = Math.min(
    availableParallelism(),
    limits.loadThreadCount,
    shardsOf(manifest).length,
  )
  return loaderUrl === undefined || threadCount === 0
    ? runHere(onRead, stopping)
    : runOnThreads(loaderUrl, threadCount, onRead, stopping)
}

async function load(
  directory: string,
  manifest: Manifest,
  rooms: readonly Room[],
  runner: LoadRunner,
  holds: Holds,
): Promise<Snapshot> {
  const entries = shardsOf(manifest)
  const reading: Promise<LoadedShard>[] = []
  let roomCount = 0
  // Heads are read one after the other, as there may be more files than may be open.
  for (const [place, { source, entry }] of entries.entries()) {
    const room = holds(place) ? rooms[roomCount++] : undefined
    const piece = await planAlone(directory, source, entry)
    const loaded =
      room === undefined
        ? runner.loadElsewhere({ kind: 'elsewhere', ...piece })
        : runner.loadShard({ kind: 'shard', ...piece, room }).then((read) => {
            const shard = inRoom(read, room)
            return { shard, contacts: attachShard(shard).contacts, room }
          })
    // A fault is noticed further down.
    loaded.catch(() => {})
    reading.push(loaded)
  }
  const read = await loadRepeats(directory, manifest, rooms.at(roomCount), runner)
  const shards = await Promise.all(reading)
  if (read === undefined && roomCount < entries.length) throw withoutRepeats(manifest.id)
  const images = shards.map(({ shard }) => shard)
  const repeats: Repeats =
    read ?? (await runner.loadRepeats({ kind: 'findRepeats', shards: images }))
  return {
    id: manifest.id,
    createdAt: manifest.createdAt,
    sources: manifest.sources.map(summaryOf),
    shards: await tieAll(shards, repeats, runner),
    arenas: [...new Set(rooms.map(({ arena }) => arena))],
  }
}

/** A shard in its room, or one that another machine holds. */
interface LoadedShard {
  readonly shard: ShardImage
  /** Until it is tied. */
  readonly contacts: Uint32Array
  readonly room?: Room
}

function withoutRepeats(id: string): OperatorError {
  return new OperatorError(
    'Failed',
    `the snapshot ${id} does not say which phones repeat, since an early version wrote it, and no machine that ` +
      'holds some of its shards alone can tell: import its sources once more',
  )
}

/** Ties the recipients of all shards, now that all contacts and all repeats are known. */
async function tieAll(
  shards: readonly LoadedShard[],
  repeats: Repeats,
  runner: LoadRunner,
): Promise<ShardImage[]> {
  const bySource = new Map<number, Promise<SharedContacts>>()
  for (const { sourceId } of shards.map(({ shard }) => shard)) {
    if (bySource.has(sourceId)) continue
    const found = findShared(
      shards.filter(({ shard }) => shard.sourceId === sourceId),
      runner,
    )
    // A fault is noticed further down.
    found.catch(() => {})
    bySource.set(sourceId, found)
  }
  return await Promise.all(
    shards.map(async ({ shard, contacts, room }, at) => {
      const sharedContacts = (await bySource.get(shard.sourceId)) ?? assert.fail()
      const { recipientCount } = shard
      const sets =
        room === undefined
          ? { byContact: tiedSet(recipientCount), byPhone: tiedSet(recipientCount) }
          : tiedSetsIn(room, shard.image.length, recipientCount)
      const own = repeats.shards[at]
      const piece = { kind: 'tie', contacts, sharedContacts, repeats: own, ...sets } as const
      const tied = contacts.subarray(0, await runner.tie(piece))
      const ids = room === undefined ? sharedCopyOf(tied) : tied
      const { byContact, byPhone } = sets
      const isInArena = room !== undefined
      return {
        ...shard,
        contactTies: { set: byContact, isInArena, ids, idEnd: sharedContacts.count },
        phoneTies: {
          set: byPhone,
          isInArena,
          ids: own.phoneIds,
          idEnd: repeats.phoneCount,
        },
      }
    }),
  )
}

function tiedSet(recipientCount: number): RankedSet {
  return new Uint32Array(new SharedArrayBuffer(4 * rankedSetLength(recipientCount)))
}

/** Without the memory of all contacts. */
function sharedCopyOf(words: Uint32Array): Uint32Array {
  const copy = new Uint32Array(new SharedArrayBuffer(words.byteLength))
  copy.set(words)
  return copy
}

/** @param shards  of one source */
async function findShared(
  shards: readonly LoadedShard[],
  runner: LoadRunner,
): Promise<SharedContacts> {
  const [{ contactCount }] = shards.map(({ shard }) => shard)
  const columns = shards.map(({ contacts }) => contacts)
  const partCount = Math.min(runner.threadCount, shards.length)
  const parts = Array.from({ length: partCount }, (_, part) =>
    columns.filter((_, at) => at % partCount === part),
  )
  const uses = await Promise.all(
    parts.map((columns) => runner.note({ kind: 'note', columns, contactCount })),
  )
  return findSharedContacts(uses)
}

async function loadRepeats(
  directory: string,
  manifest: Manifest,
  room: Room | undefined,
  runner: LoadRunner,
): Promise<Repeats | undefined> {
  if (!('repeats' in manifest) || room === undefined) return undefined
  const shardCounts = shardsOf(manifest).map(({ entry }) => entry.recipientCount)
  return await runner.loadRepeats(await planRepeats(directory, manifest.repeats, shardCounts, room))
}

/** The image in its own room: an image from another thread has the same bytes, but not these objects. */
function inRoom(shard: ShardImage, room: Room): ShardImage {
  const image = room.bytes.subarray(0, shard.image.length)
  const marks = marksIn(room, image.length, shard.recipientCount)
  return { ...shard, arena: room.arena, image, marks }
}
