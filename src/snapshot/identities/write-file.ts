/**
 * Writes the identities of the recipients of one shard as a file: a head (see ../format/container.ts) and
 * an image, all integers little-endian:
 *
 *   bytes              content
 *   4 * (count + 1)    where the text of each contact starts
 *   last offset        the texts of the contacts, UTF-8
 *   up to 4            zeros, up to a multiple of 4
 *   4 * (count + 1)    where each key starts, where the source has keys
 *   last offset        the keys, UTF-8
 *
 * They are in the order of the import, in which each recipient of a shard has its rank: in kd order, each
 * would have to be fetched from somewhere else.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { createFile } from '../../durable-files.js'
import type { Identities } from '../../shard/columns.js'
import { blockSumsOf } from '../format/blocks.js'
import { encodeHead } from '../format/container.js'
import type { IdentitiesHeader } from './header.js'
import type { IdentitiesFile } from './list.js'

interface ShardPlace {
  readonly sourceId: number
  readonly regionIndex: number
}

/**
 * Writes a file that must not be there yet; it is on disk when this returns.
 *
 * @param rows  of the recipients of the shard in the source, ascending
 */
export async function writeIdentitiesFile(
  directory: string,
  { sourceId, regionIndex }: ShardPlace,
  identities: Identities,
  rows: Uint32Array,
): Promise<IdentitiesFile> {
  const image = imageOf(identities, rows)
  const header: IdentitiesHeader = {
    sourceId,
    regionIndex,
    recipientCount: rows.length,
    hasKeys: identities.keys !== null,
    imageBytes: image.length,
    blockCrc32s: blockSumsOf(image),
  }
  const head = encodeHead('HICKIDEN', header)
  const file = identitiesFileName(sourceId, regionIndex)
  const hash = createHash('sha256')
  await createFile(`${directory}/${file}`, [head.bytes, image], (piece) => hash.update(piece))
  return {
    file,
    byteLength: head.bytes.length + image.length,
    sha256: hash.digest('hex'),
    headerCrc32: head.crc32,
  }
}

function identitiesFileName(sourceId: number, regionIndex: number): string {
  return `${sourceId}-${String(regionIndex).padStart(4, '0')}.identities`
}

function imageOf({ contactOffsets, contactTexts, keys }: Identities, rows: Uint32Array) {
  const columns = [{ offsets: contactOffsets, texts: contactTexts }, ...(keys ? [keys] : [])]
  const sizes = columns.map(({ offsets }) => {
    let textBytes = 0
    for (let rank = 0; rank < rows.length; rank++) {
      textBytes += offsets[rows[rank] + 1] - offsets[rows[rank]]
    }
    return 4 * (rows.length + 1) + Math.ceil(textBytes / 4) * 4
  })
  const image = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  let start = 0
  for (const [at, column] of columns.entries()) {
    fill(image.subarray(start, start + sizes[at]), column, rows)
    start += sizes[at]
  }
  return image
}

function fill(
  part: Uint8Array,
  { offsets, texts }: { readonly offsets: Uint32Array; readonly texts: Uint8Array },
  rows: Uint32Array,
): void {
  const starts = new Uint32Array(part.buffer, part.byteOffset, rows.length + 1)
  const into = part.subarray(starts.byteLength)
  let end = 0
  for (let rank = 0; rank < rows.length; rank++) {
    const textEnd = offsets[rows[rank] + 1]
    // A loop beats set() for texts as short as these.
    for (let at = offsets[rows[rank]]; at < textEnd; at++) into[end++] = texts[at]
    starts[rank + 1] = end
  }
}
