/**
 * Finds the suppressed recipients of an audience. Its snapshot is mostly no longer in memory, and has no marks: changes of
 * the suppression lists since the last comparison are looked for among the phones of the audience, on the disk.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import { limits } from '../limits.js'
import { hashBytes } from '../shard/hash-bytes.js'
import { normalise, RunList, subtract } from '../shard/runs.js'
import {
  isOnList,
  readLists,
  type Scope,
  type SuppressionLog,
  suppressionLogOf,
} from '../store/suppressions.js'
import type { Tables } from '../store/tables.js'
import { isListed, type PhoneTable, phoneTableOf, readListed } from '../suppressions/phone-table.js'
import type { AudienceHeader } from './file.js'
import type { AudiencePart, SuppressibleAudience } from './loaded-audience.js'
import type { OpenShards } from './open-shards.js'
import { type PhonesWindow, phonesOfRuns } from './shard-columns.js'

interface Comparison {
  /** Whether a phone may have become suppressed or free. */
  mayHaveChanged(phones: Uint8Array, start: number, end: number, hash: number): boolean
  isSuppressed(phones: Uint8Array, start: number, end: number, sourceId: number): boolean
}

/** No log reaches back to it. */
const NO_VERSION = -1

export class SuppressionLook {
  readonly #tables: Tables
  readonly #log: SuppressionLog
  readonly #shards: OpenShards

  /** @param tables  open for as long as this is used */
  constructor(tables: Tables, shards: OpenShards) {
    this.#tables = tables
    this.#log = suppressionLogOf(tables)
    this.#shards = shards
  }

  /** SHA-256 of the change that made a version; null if the log does not have it. */
  digestOf(version: number): string | null {
    this.#tables.refresh()
    return this.#log.digestOf(version) ?? null
  }

  /**
   * The version of an audience that was read from its file. It says nothing if the store is another one than at the freezing,
   * or a copy from before: then all phones are compared.
   */
  versionOf({ suppressionVersion, suppressionDigest }: AudienceHeader): number {
    if (suppressionVersion === 0) return 0
    const digest = this.digestOf(suppressionVersion)
    return digest !== null && digest === suppressionDigest ? suppressionVersion : NO_VERSION
  }

  /** Brings an audience up to the stored lists. Others may be served meanwhile. */
  async bringUp(audience: SuppressibleAudience): Promise<void> {
    this.#tables.refresh()
    const { version } = this.#log.state()
    if (version === audience.version) return
    const comparison = this.#changedSince(audience.version) ?? (await this.#allListed())
    const suppressed: Uint32Array[] = []
    for (const [at, part] of audience.parts.entries()) {
      suppressed.push(await this.#compare(part, audience.suppressed[at], comparison))
    }
    audience.suppressed = suppressed
    audience.version = version
  }

  /** Undefined if the log does not reach back far enough. */
  #changedSince(version: number): Comparison | undefined {
    const phones = new Set<string>()
    const isWhole = this.#log.replay(version, ({ numbers }) => {
      for (const phone of numbers) phones.add(phone)
    })
    if (!isWhole) return undefined
    const changed = phoneTableOf([...phones])
    return {
      mayHaveChanged: (bytes, start, end, hash) => isListed(changed, bytes, start, end, hash),
      isSuppressed: (bytes, start, end, sourceId) => {
        const phone = Buffer.from(bytes.subarray(start, end)).toString()
        return isOnList(this.#tables, 'all', phone) || isOnList(this.#tables, sourceId, phone)
      },
    }
  }

  async #allListed(): Promise<Comparison> {
    const lists = new Map<Scope, PhoneTable>()
    for (const { scope, count } of readLists(this.#tables)) {
      const reading = readListed(this.#tables, scope, count)
      let step = reading.next()
      while (step.done !== true) {
        await turn()
        step = reading.next()
      }
      lists.set(scope, step.value)
    }
    const isOn = (scope: Scope, bytes: Uint8Array, start: number, end: number) => {
      const table = lists.get(scope)
      return table !== undefined && isListed(table, bytes, start, end, hashBytes(bytes, start, end))
    }
    return {
      mayHaveChanged: () => true,
      isSuppressed: (bytes, start, end, sourceId) =>
        isOn('all', bytes, start, end) || isOn(sourceId, bytes, start, end),
    }
  }

  async #compare(
    { sourceId, place, runs }: AudiencePart,
    suppressed: Uint32Array,
    comparison: Comparison,
  ): Promise<Uint32Array> {
    const seen = new RunList()
    const found = new RunList()
    await this.#shards.use(place, async (columns) => {
      for (const piece of piecesOf(runs)) {
        for (const window of phonesOfRuns(columns, piece)) {
          compareWindow(window, sourceId, comparison, seen, found)
        }
        await turn()
      }
    })
    const before = new RunList()
    before.appendPairs(suppressed)
    const kept = new RunList()
    subtract(before, seen, kept)
    for (let i = 0; i < 2 * found.runCount; i += 2) kept.append(found.pairs[i], found.pairs[i + 1])
    normalise(kept)
    return kept.toPairs()
  }
}

function compareWindow(
  { phones, phoneOffsets, runs, start: first }: PhonesWindow,
  sourceId: number,
  comparison: Comparison,
  seen: RunList,
  found: RunList,
): void {
  for (let i = 0; i < runs.length; i += 2) {
    for (let recipient = runs[i]; recipient < runs[i + 1]; recipient++) {
      const start = phoneOffsets[recipient]
      const end = phoneOffsets[recipient + 1]
      const hash = hashBytes(phones, start, end)
      if (!comparison.mayHaveChanged(phones, start, end, hash)) continue
      const index = first + recipient
      seen.append(index, index + 1)
      if (comparison.isSuppressed(phones, start, end, sourceId)) found.append(index, index + 1)
    }
  }
}

/** The same recipients, as many at a time as are compared in a turn. */
function* piecesOf(runs: Uint32Array): Generator<Uint32Array> {
  let piece: number[] = []
  let room = limits.audienceReadCount
  for (let i = 0; i < runs.length; i += 2) {
    for (let start = runs[i]; start < runs[i + 1]; ) {
      const end = Math.min(runs[i + 1], start + room)
      piece.push(start, end)
      room -= end - start
      start = end
      if (room > 0) continue
      yield Uint32Array.from(piece)
      piece = []
      room = limits.audienceReadCount
    }
  }
  if (piece.length > 0) yield Uint32Array.from(piece)
}
