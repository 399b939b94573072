/**
 * Whether a snapshot looks whole, in a moment: its manifest, and of each file its size and head. Its
 * recipients are not read; `verify.ts` does that.
 *
 * @module
 */
import { join } from 'node:path'
import { snapshotsDirectory } from '../directory.js'
import { readRepeatsHead } from '../duplicates/file.js'
import { type Manifest, readManifest } from '../format/manifest.js'
import { readShardHead } from '../format/shard-file.js'
import { corrupt } from '../open-file.js'

/**
 * @returns its manifest
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function lookOver(dataDirectory: string, id: string): Promise<Manifest> {
  const manifest = await readManifest(dataDirectory, id)
  const directory = join(snapshotsDirectory(dataDirectory), id)
  for (const { file, byteLength, headerCrc32 } of manifest.sources.flatMap(
    ({ shards }) => shards,
  )) {
    const path = join(directory, file)
    const head = await readShardHead(path, byteLength)
    if (head.headerCrc32 === headerCrc32) continue
    const found = `found the shard with header CRC-32 ${head.headerCrc32}`
    throw corrupt(path, `${found}, expected ${headerCrc32}`)
  }
  if ('repeats' in manifest) {
    await readRepeatsHead(join(directory, manifest.repeats.file), manifest.repeats)
  }
  return manifest
}
