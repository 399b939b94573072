/**
 * The last batches of a journal by their ids, in memory, so that a batch that is sent again is not written
 * again. LMDB has them beside the head in chunks, but for the newest, which each writer reads from the files:
 * otherwise each group would wait for LMDB to sync, too.
 *
 * @module
 */
import type { HeadTable } from '../chain/head-store.js'
import { batchKey, DIGEST_BYTES, KEY_BYTES } from './batch-key.js'

/** What a batch is known by. */
interface KnownBatch {
  readonly sequence: number
  readonly sourceId: number
  readonly batchId: string
  /** SHA-256 of its content. */
  readonly digest: Uint8Array
}

export class KnownBatches {
  readonly #knownCount: number
  /** Keys and digests of the last batches, each in the slot of its sequence; pages without one are not there. */
  readonly #pages: Buffer[] = []
  /** Sequences by keys. */
  readonly #sequences = new Map<string, number>()
  #last = 0

  /** @param knownCount  how many of the last batches are known */
  constructor(knownCount: number) {
    this.#knownCount = knownCount
  }

  /** The batch behind the last one. */
  add({ sequence, sourceId, batchId, digest }: KnownBatch): void {
    this.addKey(sequence, batchKey(sourceId, batchId), digest)
  }

  /** The same where the key is known. */
  addKey(sequence: number, key: string, digest: Uint8Array): void {
    if (sequence <= this.#last) throw new Error('batches are known in their order')
    this.#last = sequence
    const slot = this.#slotOf(sequence)
    const oldKey = slot.toString('latin1', 0, KEY_BYTES)
    // Unless the id came again since.
    if (this.#sequences.get(oldKey) === sequence - this.#knownCount) this.#sequences.delete(oldKey)
    slot.write(key, 0, 'latin1')
    slot.set(digest, KEY_BYTES)
    this.#sequences.set(key, sequence)
  }

  /** The sequence of the batch with a key; undefined where none of the last ones has it. */
  find(key: string): number | undefined {
    return this.#sequences.get(key)
  }

  hasDigest(sequence: number, digest: Uint8Array): boolean {
    return this.#slotOf(sequence).compare(digest, 0, DIGEST_BYTES, KEY_BYTES, SLOT_BYTES) === 0
  }

  /** Reads from LMDB what is behind a sequence, up to the head there. */
  load(table: HeadTable, since: number): void {
    const chunks: [start: number, slots: Buffer][] = []
    for (const [key, slots] of table.backwards()) {
      const start = sequenceOf(key)
      // A copy: the bytes of LMDB may be others when the transaction moves on.
      chunks.push([start, Buffer.from(slots)])
      if (start <= since + 1) break
    }
    for (const [start, slots] of chunks.reverse()) {
      for (let at = 0; at < slots.length; at += SLOT_BYTES) {
        const sequence = start + at / SLOT_BYTES
        const keyEnd = at + KEY_BYTES
        if (sequence <= since) continue
        const digest = slots.subarray(keyEnd, at + SLOT_BYTES)
        this.addKey(sequence, slots.toString('latin1', at, keyEnd), digest)
      }
    }
  }

  /**
   * Puts those between two sequences into LMDB, and takes out the chunks that are old.
   *
   * @param since  the head in LMDB
   * @param last  the end of the journal
   */
  index(table: HeadTable, since: number, last: number): void {
    const start = Math.max(since + 1, last - this.#knownCount + 1)
    const slots = Buffer.alloc((last - start + 1) * SLOT_BYTES)
    for (let sequence = start; sequence <= last; sequence++) {
      this.#slotOf(sequence).copy(slots, (sequence - start) * SLOT_BYTES)
    }
    const old: Uint8Array[] = []
    for (const [key, chunk] of table.forwards()) {
      const chunkEnd = sequenceOf(key) + chunk.length / SLOT_BYTES - 1
      if (chunkEnd > last - this.#knownCount) break
      old.push(Uint8Array.from(key))
    }
    for (const key of old) table.remove(key)
    if (slots.length > 0) table.put(keyOf(start), slots)
  }

  #slotOf(sequence: number): Buffer {
    const slot = sequence % this.#knownCount
    const page = Math.floor(slot / PAGE_SLOTS)
    this.#pages[page] ??= Buffer.alloc(PAGE_SLOTS * SLOT_BYTES)
    const at = (slot % PAGE_SLOTS) * SLOT_BYTES
    return this.#pages[page].subarray(at, at + SLOT_BYTES)
  }
}

const SLOT_BYTES = KEY_BYTES + DIGEST_BYTES
/** Small beside all of them: most journals have few batches. */
const PAGE_SLOTS = 1_024

/** Takes the batches out of LMDB that are behind a sequence. */
export function forgetBehind(table: HeadTable, sequence: number): void {
  const behind: [key: Uint8Array, start: number, chunk: Buffer][] = []
  for (const [key, chunk] of table.backwards()) {
    const start = sequenceOf(key)
    if (start + chunk.length / SLOT_BYTES - 1 <= sequence) break
    // Copies: the bytes of LMDB may be others when the table is changed.
    behind.push([Uint8Array.from(key), start, Buffer.from(chunk)])
  }
  for (const [key, start, chunk] of behind) {
    if (start > sequence) table.remove(key)
    else table.put(key, chunk.subarray(0, (sequence - start + 1) * SLOT_BYTES))
  }
}

/** In the order of numbers. */
function keyOf(sequence: number): Buffer {
  const key = Buffer.alloc(8)
  key.writeBigUInt64BE(BigInt(sequence))
  return key
}

function sequenceOf(key: Uint8Array): number {
  return Number(Buffer.from(key.buffer, key.byteOffset, key.length).readBigUInt64BE())
}
