/**
 * The phones of a shard file, read without the rest. They are not verified: that takes the checksums
 * of the whole image.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import type { PhoneColumn } from '../../shard/duplicates/phone-hash.js'
import { readAll } from '../format/blocks.js'
import { withFile } from '../open-file.js'

/** Where they are; threads are told, since to read the head of a file takes much to load. */
export interface PhonePlace {
  readonly path: string
  /** Of the file. */
  readonly byteLength: number
  readonly offsets: BytePlace
  readonly phones: BytePlace
}

interface BytePlace {
  /** In the file. */
  readonly position: number
  readonly byteLength: number
}

/** @throws OperatorError `SnapshotCorrupt` */
export function readPhones({ path, byteLength, ...places }: PhonePlace): Promise<PhoneColumn> {
  return withFile(path, byteLength, async (file) => {
    const offsets = await readPlace(file, places.offsets)
    const phones = await readPlace(file, places.phones)
    return { phones, phoneOffsets: new Uint32Array(offsets.buffer) }
  })
}

async function readPlace(
  file: FileHandle,
  { position, byteLength }: BytePlace,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(byteLength)
  await readAll(file, bytes, position)
  return bytes
}
