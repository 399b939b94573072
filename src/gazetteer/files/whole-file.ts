/**
 * Files that are read into memory as a whole, up to a bound.
 *
 * @module
 */
import { readInput } from '../../sources/files/input.js'
import { refuse } from './area-file.js'

/** Unpacked, if it is gzip or zstd. */
export async function readWhole(
  path: string,
  file: string,
  format: string,
  bytesMax: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let byteCount = 0
  for await (const chunk of readInput(path, file, () => undefined)) {
    byteCount += chunk.length
    if (byteCount > bytesMax) {
      refuse(
        file,
        `it has more than ${bytesMax} bytes, the most that ${format} may have: write it as ` +
          'GeoJSON or as a shapefile, which are read piece by piece',
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, byteCount)
}
