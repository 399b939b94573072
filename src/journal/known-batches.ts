/**
 * The last batches of a journal by their ids, so that a batch that is sent again is not written again. Most
 * of them are in LMDB, beside the head. The newest are in memory, where each writer reads them from the
 * files: otherwise each group would wait for LMDB to sync, too.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { HeadTable } from '../chain/head-store.js'

/** What a batch is known by. */
export interface KnownBatch {
  readonly sequence: number
  /** Of its content. */
  readonly digest: Uint8Array
}

/** `batches`: sequence and digest by key; `order`: keys by sequence. */
type Tables = Readonly<Record<'batches' | 'order', HeadTable>>

export class KnownBatches {
  readonly #knownCount: number
  /** Those behind the head in LMDB, by keys in Latin-1. */
  readonly #newest = new Map<string, KnownBatch>()

  /** @param knownCount  how many of the last batches are known */
  constructor(knownCount: number) {
    this.#knownCount = knownCount
  }

  /** How many are in memory. */
  get newestCount(): number {
    return this.#newest.size
  }

  add(key: Uint8Array, { sequence, digest }: KnownBatch): void {
    // A copy, since the digest may be a part of a large piece of a file.
    this.#newest.set(latin1(key), { sequence, digest: Uint8Array.from(digest) })
  }

  /** @param last  the sequence of the last batch that there is */
  find(key: Uint8Array, { batches }: Tables, last: number): KnownBatch | undefined {
    const found = this.#newest.get(latin1(key)) ?? knownBatch(batches.get(key))
    return found !== undefined && found.sequence > last - this.#knownCount ? found : undefined
  }

  /** Puts those that are in memory into LMDB, and as many that are old out of it. */
  index({ batches, order }: Tables): void {
    for (const [text, { sequence, digest }] of this.#newest) {
      const key = Buffer.from(text, 'latin1')
      batches.put(key, Buffer.concat([sequenceKey(sequence), digest]))
      order.put(sequenceKey(sequence), key)
      const old = sequence - this.#knownCount
      const oldKey = old > 0 ? order.get(sequenceKey(old)) : undefined
      if (oldKey === undefined) continue
      order.remove(sequenceKey(old))
      // Unless the id came again after it had been forgotten.
      if (knownBatch(batches.get(oldKey))?.sequence === old) batches.remove(oldKey)
    }
  }

  /** Those up to a sequence are in LMDB. */
  forgetNewest(upTo: number): void {
    for (const [key, { sequence }] of this.#newest) if (sequence <= upTo) this.#newest.delete(key)
  }
}

/** What a batch is found by, whatever the length of its id. */
export function batchKey(sourceId: number, batchId: string): Uint8Array {
  const hash = createHash('sha256').update(`${sourceId}\0`).update(batchId)
  return hash.digest().subarray(0, KEY_BYTES)
}

/** Nobody finds two ids with the same beginning of a digest. */
const KEY_BYTES = 16

function knownBatch(value: Uint8Array | undefined): KnownBatch | undefined {
  if (value === undefined) return undefined
  const bytes = Buffer.from(value)
  return { sequence: Number(bytes.readBigUInt64BE(0)), digest: bytes.subarray(SEQUENCE_BYTES) }
}

/** In the order of numbers. */
function sequenceKey(sequence: number): Buffer {
  const key = Buffer.alloc(SEQUENCE_BYTES)
  key.writeBigUInt64BE(BigInt(sequence))
  return key
}

const SEQUENCE_BYTES = 8

function latin1(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}
