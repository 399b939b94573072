/**
 * Counts the recipients of the current snapshot that have the phones of files, read from the disk one shard at a time. The
 * shards are not verified, since this is only for a report.
 *
 * @module
 */
import { join } from 'node:path'
import { limits } from '../limits.js'
import { hashBytes } from '../shard/hash-bytes.js'
import { firstPlace, indexAt } from '../shard/hash-table.js'
import { readCurrent, snapshotsDirectory } from '../snapshot/directory.js'
import { type Manifest, readManifest } from '../snapshot/format/manifest.js'
import { findPhones } from '../snapshot/load/read-columns.js'
import { readPhones } from '../snapshot/load/read-phones.js'
import { isCorrupt } from '../snapshot/open-file.js'
import type { UnmatchedPhones } from '../store/change-port.js'
import type { Scope } from '../store/suppressions.js'
import { sampleOf, trialsOf } from './notations.js'
import { findPlace, phoneTableOf } from './phone-table.js'
import type { PhonesRead } from './read-phones.js'

interface Hits {
  readonly snapshotId: string
  /** All sources of the snapshot, by ascending id. */
  readonly sourceIds: readonly number[]
  /** In the order in which they were read. */
  readonly files: readonly FileHits[]
}

export interface FileHits extends UnmatchedPhones {
  readonly name: string
  /** Recipients that have one of the phones, by source; sources without any are left out. */
  readonly recipientCounts: ReadonlyMap<number, number>
}

type Read = Pick<PhonesRead, 'phones' | 'files'>

/**
 * Counts for each file. An import may remove the snapshot meanwhile; then the newer one is counted.
 *
 * @returns undefined if there is no snapshot
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function countHits(
  dataDirectory: string,
  scope: Scope,
  read: Read,
): Promise<Hits | undefined> {
  for (let attempt = 1; ; attempt++) {
    const id = await readCurrent(dataDirectory)
    if (id === undefined) return undefined
    try {
      return await countIn(dataDirectory, id, scope, read)
    } catch (fault) {
      const isReplaced = isCorrupt(fault) && (await readCurrent(dataDirectory)) !== id
      if (!isReplaced || attempt === ATTEMPT_COUNT) throw fault
    }
  }
}

const ATTEMPT_COUNT = 3

async function countIn(
  dataDirectory: string,
  snapshotId: string,
  scope: Scope,
  read: Read,
): Promise<Hits> {
  const { sources } = await readManifest(dataDirectory, snapshotId)
  const directory = join(snapshotsDirectory(dataDirectory), snapshotId)
  const inScope = sources.filter(({ id }) => scope === 'all' || id === scope)
  const matched = new Uint8Array(read.phones.size)
  const recipientCounts = read.files.map(() => new Map<number, number>())
  const table = phoneTableOf([...read.phones.keys()])
  for (const source of inScope) {
    const hits = new Uint32Array(read.phones.size)
    await eachRecipient(directory, source, (phones, start, end, hash) => {
      // The table has each phone once.
      const place = findPlace(table, phones, start, end, hash, firstPlace(table, hash))
      if (place >= 0) hits[indexAt(table, place)]++
    })
    for (const [at, hitCount] of hits.entries()) if (hitCount > 0) matched[at] = 1
    for (const [file, { indexes }] of read.files.entries()) {
      const count = indexes.reduce((sum, at) => sum + hits[at], 0)
      if (count > 0) recipientCounts[file].set(source.id, count)
    }
  }
  const samples = sampleUnmatched(read, matched)
  const otherwise = await tryNotations(directory, inScope, samples, read.phones)
  const files = read.files.map(({ name, indexes }, file) => ({
    name,
    phoneCount: indexes.length,
    unmatchedCount: indexes.filter((at) => matched[at] === 0).length,
    recipientCounts: recipientCounts[file],
    otherwiseWritten: otherwise[file],
    triedCount: samples[file].length,
  }))
  return { snapshotId, sourceIds: sources.map(({ id }) => id), files }
}

type Source = Manifest['sources'][number]

/** One shard is in memory at a time. */
async function eachRecipient(
  directory: string,
  { shards }: Source,
  onPhone: (phones: Uint8Array, start: number, end: number, hash: number) => void,
): Promise<void> {
  for (const { file, byteLength, recipientCount } of shards) {
    const place = await findPhones(join(directory, file), byteLength)
    const { phones, phoneOffsets } = await readPhones(place)
    for (let i = 0; i < recipientCount; i++) {
      const start = phoneOffsets[i]
      // Offsets that are damaged must not keep this going for minutes.
      const end = Math.min(phoneOffsets[i + 1], phones.length)
      onPhone(phones, start, end, hashBytes(phones, start, end))
    }
  }
}

/** Some unmatched phones of each file. */
function sampleUnmatched({ phones, files }: Read, matched: Uint8Array): string[][] {
  if (!matched.includes(0)) return files.map(() => [])
  const all = [...phones.keys()]
  return files.map(({ indexes }) => {
    const unmatched = indexes.filter((at) => matched[at] === 0)
    return sampleOf(unmatched, limits.notationSampleCount).map((at) => all[at])
  })
}

/** For each file, how many phones of its sample some recipient has in another notation. */
async function tryNotations(
  directory: string,
  sources: readonly Source[],
  samples: readonly (readonly string[])[],
  known: ReadonlyMap<string, number>,
): Promise<FileHits['otherwiseWritten'][]> {
  const trials = samples.flatMap((sample, file) =>
    trialsOf(sample, known).map(({ notation, variants }) => {
      const found = new Uint8Array(variants.length)
      return { file, notation, table: phoneTableOf(variants), found }
    }),
  )
  if (trials.length > 0) {
    for (const source of sources) {
      await eachRecipient(directory, source, (phones, start, end, hash) => {
        for (const { table, found } of trials) {
          const place = findPlace(table, phones, start, end, hash, firstPlace(table, hash))
          if (place >= 0) found[indexAt(table, place)] = 1
        }
      })
    }
  }
  return samples.map((_, file) =>
    trials
      .filter((trial) => trial.file === file)
      .map(({ notation, found }) => ({
        notation,
        count: found.reduce((sum, isFound) => sum + isFound, 0),
      }))
      .filter(({ count }) => count > 0),
  )
}
