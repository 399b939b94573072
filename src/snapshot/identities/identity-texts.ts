/**
 * The keys and contacts of one shard, read from its file one at a time: they take no memory.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Identities } from '../../shard/columns.js'
import { readFault } from '../open-file.js'
import type { IdentitiesFile } from './list.js'

/** Where the texts of a column lie in the file. */
interface Column {
  /** Whether all texts are empty, so that none need be read. */
  readonly isEmpty: boolean
  readonly offsetsStart: number
  readonly textsStart: number
}

export class IdentityTexts {
  readonly #path: string
  readonly #fd: number
  readonly #contacts: Column
  readonly #keys: Column | undefined
  readonly #bounds = Buffer.alloc(8)

  /**
   * @param directory  of the snapshot
   * @param identities  the same file, as it was read and verified
   * @throws OperatorError
   */
  constructor(directory: string, { file, byteLength }: IdentitiesFile, identities: Identities) {
    this.#path = join(directory, file)
    const { contactOffsets, keys } = identities
    const columns = [contactOffsets, ...(keys === null ? [] : [keys.offsets])]
    const imageBytes = columns.reduce((sum, offsets) => sum + bytesOf(offsets), 0)
    const start = byteLength - imageBytes
    this.#contacts = columnAt(start, contactOffsets)
    this.#keys = keys === null ? undefined : columnAt(start + bytesOf(contactOffsets), keys.offsets)
    try {
      this.#fd = openSync(this.#path, 'r')
    } catch (fault) {
      throw readFault(this.#path, fault)
    }
  }

  /** @param rank  of the recipient in the order of the import */
  contactAt(rank: number): string {
    return this.#textAt(this.#contacts, rank)
  }

  /** Undefined in a source without keys. */
  keyAt(rank: number): string | undefined {
    return this.#keys && this.#textAt(this.#keys, rank)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #textAt({ isEmpty, offsetsStart, textsStart }: Column, rank: number): string {
    if (isEmpty) return ''
    this.#read(this.#bounds, offsetsStart + 4 * rank)
    const start = this.#bounds.readUInt32LE(0)
    const text = Buffer.allocUnsafe(this.#bounds.readUInt32LE(4) - start)
    this.#read(text, textsStart + start)
    return text.toString('utf8')
  }

  #read(into: Buffer, position: number): void {
    let count = 0
    while (count < into.length) {
      const read = readSync(this.#fd, into, count, into.length - count, position + count)
      if (read === 0) throw readFault(this.#path, new Error('it is shorter than before'))
      count += read
    }
  }
}

function columnAt(offsetsStart: number, offsets: Uint32Array): Column {
  const isEmpty = offsets[offsets.length - 1] === 0
  return { isEmpty, offsetsStart, textsStart: offsetsStart + 4 * offsets.length }
}

function bytesOf(offsets: Uint32Array): number {
  return 4 * offsets.length + Math.ceil(offsets[offsets.length - 1] / 4) * 4
}
