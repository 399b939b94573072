/**
 * Audiences in memory, with the runs of their recipients: a cache of them, and pages of their lists.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.js'
import { RunList, recipientCountOf, subtract } from '../shard/runs.js'
import { type AudienceName, audiencesDirectory } from '../snapshot/retention/audience-names.js'
import { withAudience } from './directory.js'
import { type AudienceHeader, listOrder, readAudienceRuns } from './file.js'
import type { OpenedAudience, OpenedShard, RowsPlace } from './messages.js'

/** A shard file of the snapshot or a delta of the audience's own file. */
export interface AudiencePart {
  readonly sourceId: number
  readonly recipientCount: number
  readonly place: RowsPlace
  /** The recipients of the audience, by their indexes at this place. */
  readonly runs: Uint32Array
}

/** An audience with its suppressed recipients. */
export interface SuppressibleAudience {
  readonly header: AudienceHeader
  /** In the order of the list. */
  readonly parts: readonly AudiencePart[]
  /** The suppressed recipients of each part, as of `version` of the suppression lists. */
  suppressed: readonly Uint32Array[]
  version: number
}

export interface KeptAudience extends SuppressibleAudience {
  readonly name: AudienceName
  /** While its suppressed recipients are being looked for. */
  looking: Promise<void> | undefined
}

/** A cache of audiences: the least recently used are evicted, and one whose file is gone is unknown. */
export class KeptAudiences {
  readonly #dataDirectory: string
  /** By id, the most recently used at the end. */
  readonly #kept = new Map<string, KeptAudience>()

  readonly #versionOf: (header: AudienceHeader) => number

  /** @param versionOf  the version of the suppression lists at which no recipient of an audience was suppressed */
  constructor(dataDirectory: string, versionOf: (header: AudienceHeader) => number) {
    this.#dataDirectory = dataDirectory
    this.#versionOf = versionOf
  }

  /** A cached one, if its file is still there. */
  async known(id: string): Promise<KeptAudience | undefined> {
    const audience = this.#kept.get(id)
    if (audience === undefined) return undefined
    const path = join(audiencesDirectory(this.#dataDirectory), audience.name.name)
    const isThere = await stat(path).catch(() => undefined)
    if (isThere === undefined || audience.name.expiresMs <= Date.now()) {
      this.#kept.delete(id)
      return undefined
    }
    return this.#used(audience)
  }

  /**
   * Reads one from the disk.
   *
   * @returns undefined if there is no such file any more
   * @throws FormatFault
   */
  async read(name: AudienceName): Promise<KeptAudience | undefined> {
    const read = await withAudience(
      this.#dataDirectory,
      name,
      async (file, header, imageStart) => ({
        header,
        runs: await readAudienceRuns(file, header, imageStart),
      }),
    )
    if (read === undefined) return undefined
    // Another request may have read it meanwhile.
    const known = this.#kept.get(name.id)
    if (known !== undefined) return this.#used(known)
    const { header, runs } = read
    const parts = partsOf(name, header, runs)
    return this.#used({
      name,
      header,
      parts,
      suppressed: parts.map(() => NO_RUNS),
      version: this.#versionOf(header),
      looking: undefined,
    })
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }

  #used(audience: KeptAudience): KeptAudience {
    const { id } = audience.name
    this.#kept.delete(id)
    this.#kept.set(id, audience)
    let byteLength = 0
    for (const each of this.#kept.values()) byteLength += bytesOf(each)
    for (const [oldest, each] of this.#kept) {
      const hasRoom =
        byteLength <= limits.audiencesKeptBytes && this.#kept.size <= limits.audiencesKeptCount
      if (hasRoom || oldest === id) break
      byteLength -= bytesOf(each)
      this.#kept.delete(oldest)
    }
    return audience
  }
}

/** @param runs  of each shard of the header */
function partsOf(
  name: AudienceName,
  header: Pick<AudienceHeader, 'shards' | 'deltas'>,
  runs: readonly Uint32Array[],
): AudiencePart[] {
  const parts: AudiencePart[] = []
  let shardCount = 0
  for (const { kind, item } of listOrder(header)) {
    const { sourceId, recipientCount } = item
    if (kind === 'delta') {
      const all = Uint32Array.of(0, recipientCount)
      parts.push({ sourceId, recipientCount, place: { audience: name, sourceId }, runs: all })
      continue
    }
    const { file, byteLength, headerCrc32 } = item
    const place = { snapshotId: name.snapshotId, file, byteLength, headerCrc32 }
    parts.push({ sourceId, recipientCount, place, runs: runs[shardCount++] })
  }
  return parts
}

const NO_RUNS = new Uint32Array(0)

function bytesOf({ header, suppressed }: KeptAudience): number {
  return header.imageBytes + suppressed.reduce((sum, runs) => sum + runs.byteLength, 0)
}

/**
 * A page of the list.
 *
 * @param after  how many recipients of the frozen list come before the page, suppressed or not, so that a page begins at the
 *   same place however many are suppressed meanwhile
 * @param limit  the most recipients of the page; infinite for all
 */
export function pageOfAudience(
  { parts, suppressed }: Pick<SuppressibleAudience, 'parts' | 'suppressed'>,
  after: number,
  limit: number,
): Pick<OpenedAudience, 'shards' | 'next'> {
  const shards: OpenedShard[] = []
  let passed = after
  let left = limit
  let place = after
  for (const [at, { sourceId, recipientCount, place: rows, runs }] of parts.entries()) {
    if (passed >= recipientCount) {
      passed -= recipientCount
      continue
    }
    if (left === 0) return { shards, next: place }
    const behind = behindOf(runs, passed)
    const { given, lastCount } = firstUnsuppressed(behind, suppressed[at], left)
    if (given.length > 0) shards.push({ sourceId, place: rows, runs: given })
    left -= recipientCountOf(given)
    place += lastCount
    if (lastCount < recipientCount - passed) return { shards, next: place }
    passed = 0
  }
  return { shards, next: undefined }
}

/** How many recipients of each source are suppressed. */
export function suppressedCountsOf({ header, parts, suppressed }: SuppressibleAudience): number[] {
  return header.sources.map(({ id }) => {
    let count = 0
    for (const [at, { sourceId }] of parts.entries()) {
      if (sourceId === id) count += recipientCountOf(suppressed[at])
    }
    return count
  })
}

/** The runs behind the first `count` recipients. */
function behindOf(runs: Uint32Array, count: number): Uint32Array {
  let left = count
  let first = 0
  while (first < runs.length && left >= runs[first + 1] - runs[first]) {
    left -= runs[first + 1] - runs[first]
    first += 2
  }
  if (left === 0) return runs.subarray(first)
  const cut = runs.slice(first)
  cut[0] += left
  return cut
}

/**
 * The first `limit` recipients of runs that are not suppressed, and how many recipients come before the next one that is not.
 */
function firstUnsuppressed(
  runs: Uint32Array,
  suppressed: Uint32Array,
  limit: number,
): { given: Uint32Array; lastCount: number } {
  const all = listOf(runs)
  const open = new RunList()
  subtract(all, listOf(suppressed), open)
  const pairs = open.toPairs()
  let left = limit
  let end = 0
  while (end < pairs.length && left >= pairs[end + 1] - pairs[end]) {
    left -= pairs[end + 1] - pairs[end]
    end += 2
  }
  if (end === pairs.length) return { given: pairs, lastCount: recipientCountOf(runs) }
  const given = pairs.slice(0, left > 0 ? end + 2 : end)
  if (left > 0) given[end + 1] = given[end] + left
  const nextRecipient = left > 0 ? given[end + 1] : pairs[end]
  return { given, lastCount: countBefore(runs, nextRecipient) }
}

function countBefore(runs: Uint32Array, recipient: number): number {
  let count = 0
  for (let i = 0; i < runs.length && runs[i] < recipient; i += 2) {
    count += Math.min(runs[i + 1], recipient) - runs[i]
  }
  return count
}

function listOf(pairs: Uint32Array): RunList {
  const list = new RunList()
  list.appendPairs(pairs)
  return list
}
