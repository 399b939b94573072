/**
 * Single columns of a shard file, read without the rest. They are not verified: that takes the
 * checksums of the whole image.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import type { SectionName } from '../shard/layout.js'
import type { NumberColumn } from '../shard/repeats.js'
import { readAll } from './blocks.js'
import { withFile } from './open-file.js'
import { readShardHead } from './shard-file.js'
import type { ShardHead } from './shard-image.js'

/** @throws OperatorError `SnapshotCorrupt` */
export async function readNumbers(path: string, byteLength: number): Promise<NumberColumn> {
  const head = await readShardHead(path, byteLength)
  return await withFile(path, byteLength, async (file) => {
    const offsets = await readSection(file, head, 'numberOffsets')
    const numbers = await readSection(file, head, 'numbers')
    return { numbers, numberOffsets: new Uint32Array(offsets.buffer) }
  })
}

/**
 * Longitude and latitude of one recipient after the other, in units of 1e-7 degree.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function readCoordinates(
  path: string,
  byteLength: number,
): Promise<{ coords: Int32Array; version: number }> {
  const { header, imageStart, version } = await readShardHead(path, byteLength)
  return await withFile(path, byteLength, async (file) => {
    const [index] = header.sections
    // The last part of the index, which is the first section.
    const coords = new Int32Array(2 * header.recipientCount)
    const position = imageStart + index.byteOffset + index.byteLength - coords.byteLength
    await readAll(file, new Uint8Array(coords.buffer), position)
    return { coords, version }
  })
}

async function readSection(
  file: FileHandle,
  { header, imageStart }: ShardHead,
  name: SectionName,
): Promise<Uint8Array<ArrayBuffer>> {
  const section = header.sections.find((candidate) => candidate.name === name)
  const bytes = new Uint8Array(section?.byteLength ?? 0)
  await readAll(file, bytes, imageStart + (section?.byteOffset ?? 0))
  return bytes
}
