/**
 * Who of an audience is suppressed by now. Its snapshot is mostly no longer in memory, so that nobody sets
 * marks there: what changed on the suppression lists since the last look is looked for among the phones of
 * the audience, on the disk.
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
import {
  createPhoneTable,
  isListed,
  type PhoneTable,
  readListed,
} from '../suppressions/phone-table.js'
import type { AudienceHeader } from './file.js'
import type { OpenShards } from './open-shards.js'
import type { AudiencePart } from './parts.js'
import { shardsOf } from './shard-rows.js'

/** What an audience has frozen, and who of it is suppressed. */
export interface SuppressibleAudience {
  readonly header: AudienceHeader
  /** In the order of the list. */
  readonly parts: readonly AudiencePart[]
  /** Of each of them the runs of those who are suppressed as of `version`. */
  suppressed: readonly Uint32Array[]
  version: number
}

/** Which phones may have become suppressed or free, and whether one of a source is suppressed. */
interface Look {
  mayHaveChanged(
    phones: Uint8Array,
    start: number,
    end: number,
    hash: number,
    sourceId: number,
  ): boolean
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

  /** Of the change that made a version; null where the log does not have it. */
  digestOf(version: number): string | null {
    this.#tables.refresh()
    return this.#log.digestOf(version) ?? null
  }

  /**
   * Since when changes are to be looked for in an audience that was read from its file. If the store is
   * not the one it was frozen by, or a copy from before, its version says nothing: everybody is looked at.
   */
  versionOf({ suppressionVersion, suppressionDigest }: AudienceHeader): number {
    if (suppressionVersion === 0) return 0
    const digest = this.digestOf(suppressionVersion)
    return digest !== null && digest === suppressionDigest ? suppressionVersion : NO_VERSION
  }

  /** Brings an audience up to what is stored now. Others may be served meanwhile. */
  async bringUp(audience: SuppressibleAudience): Promise<void> {
    this.#tables.refresh()
    const { version } = this.#log.state()
    if (version === audience.version) return
    const look = this.#changedSince(audience.version) ?? (await this.#allListed())
    const suppressed: Uint32Array[] = []
    for (const [at, part] of audience.parts.entries()) {
      suppressed.push(await this.#lookAt(part, audience.suppressed[at], look))
    }
    audience.suppressed = suppressed
    audience.version = version
  }

  /** Undefined where the log does not reach back far enough, or has more than is worth it. */
  #changedSince(version: number): Look | undefined {
    const phones = new Set<string>()
    const isWhole = this.#log.replay(version, ({ numbers }) => {
      for (const phone of numbers) phones.add(phone)
    })
    if (!isWhole) return undefined
    const changed = tableOf(phones)
    return {
      mayHaveChanged: (bytes, start, end, hash) => isListed(changed, bytes, start, end, hash),
      isSuppressed: (bytes, start, end, sourceId) => {
        const phone = Buffer.from(bytes.subarray(start, end)).toString()
        return isOnList(this.#tables, 'all', phone) || isOnList(this.#tables, sourceId, phone)
      },
    }
  }

  async #allListed(): Promise<Look> {
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

  async #lookAt(
    { sourceId, place, runs }: AudiencePart,
    suppressed: Uint32Array,
    look: Look,
  ): Promise<Uint32Array> {
    const seen = new RunList()
    const found = new RunList()
    await this.#shards.use(place, async (columns) => {
      for (const piece of piecesOf(runs)) {
        for (const { shard: part, runs: own, start } of shardsOf(columns, piece)) {
          lookAtPart(part, own, start, sourceId, look, seen, found)
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

function lookAtPart(
  { phones, phoneOffsets }: { phones: Uint8Array; phoneOffsets: Uint32Array },
  runs: Uint32Array,
  first: number,
  sourceId: number,
  look: Look,
  seen: RunList,
  found: RunList,
): void {
  for (let i = 0; i < runs.length; i += 2) {
    for (let recipient = runs[i]; recipient < runs[i + 1]; recipient++) {
      const start = phoneOffsets[recipient]
      const end = phoneOffsets[recipient + 1]
      const hash = hashBytes(phones, start, end)
      if (!look.mayHaveChanged(phones, start, end, hash, sourceId)) continue
      const index = first + recipient
      seen.append(index, index + 1)
      if (look.isSuppressed(phones, start, end, sourceId)) found.append(index, index + 1)
    }
  }
}

/** The same recipients, as many at a time as are looked at in a turn. */
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

function tableOf(phones: ReadonlySet<string>): PhoneTable {
  const texts = [...phones].map((phone) => Buffer.from(phone))
  const phoneOffsets = new Uint32Array(texts.length + 1)
  for (const [i, text] of texts.entries()) phoneOffsets[i + 1] = phoneOffsets[i] + text.length
  return createPhoneTable({ count: texts.length, phoneOffsets, phones: Buffer.concat(texts) })
}
