/**
 * The hashes of the last records of a journal. Others are read from the disk.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import { JournalGone } from '../journal/damaged.js'
import type { JournalReader } from '../journal/reader.js'

export class LinkCache {
  readonly #reader: () => JournalReader
  readonly #keptCount: number
  /** By sequence, in order. */
  readonly #hashes = new Map<number, string>()

  constructor(reader: () => JournalReader, keptCount: number) {
    this.#reader = reader
    this.#keptCount = keptCount
  }

  /** The record behind the last one. */
  add({ sequence, hash }: Link): void {
    this.#hashes.set(sequence, hash)
    if (this.#hashes.size <= this.#keptCount) return
    for (const oldest of this.#hashes.keys()) {
      this.#hashes.delete(oldest)
      break
    }
  }

  /** Undefined where the record is not kept, or not there. */
  at(sequence: number): Link | undefined {
    const hash = this.#hashes.get(sequence)
    return hash === undefined ? this.#read(sequence) : { sequence, hash }
  }

  #read(sequence: number): Link | undefined {
    const reader = this.#reader()
    const head = reader.head()
    const { after } = head.first
    if (sequence === after.sequence) return { sequence, hash: after.hash }
    if (sequence < after.sequence || sequence > head.sequence) return undefined
    try {
      for (const { hash } of reader.records(sequence - 1)) return { sequence, hash }
    } catch (fault) {
      // It was removed a moment ago.
      if (!(fault instanceof JournalGone)) throw fault
    }
    return undefined
  }
}
