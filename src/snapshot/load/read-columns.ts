/**
 * Single columns of a shard file, read without the rest. They are not verified: that takes the
 * checksums of the whole image.
 *
 * @module
 */
import type { SectionName } from '../../shard/layout.js'
import { readAll } from '../format/blocks.js'
import { readShardHead } from '../format/shard-file.js'
import { withFile } from '../open-file.js'
import type { PhonePlace } from './read-phones.js'

/**
 * Where the phones of a shard are.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function findPhones(path: string, byteLength: number): Promise<PhonePlace> {
  const { header, imageStart } = await readShardHead(path, byteLength)
  const placeOf = (name: SectionName) => {
    const section = header.sections.find((candidate) => candidate.name === name)
    return {
      position: imageStart + (section?.byteOffset ?? 0),
      byteLength: section?.byteLength ?? 0,
    }
  }
  return { path, byteLength, offsets: placeOf('numberOffsets'), phones: placeOf('numbers') }
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
