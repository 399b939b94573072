/**
 * Shows what changed from one snapshot to another: by source how many came, left, stayed and moved, and a
 * map of those who moved.
 *
 * @module
 */
import { join } from 'node:path'
import type { Log } from '../../log.js'
import { snapshotsDirectory } from '../../snapshot/directory.js'
import { type Manifest, type ManifestSource, readManifest } from '../../snapshot/format/manifest.js'
import { print, startProgress } from '../output.js'
import { formatDegrees } from '../quantities.js'
import { formatTable } from '../table.js'
import { compareSource, type SourceChange } from './compare-source.js'
import { addToMap, boxAround, createDensityMap, type DensityMap, drawMap } from './density-map.js'

interface Compared extends SourceChange {
  readonly id: number
  readonly label: string
}

/** @throws OperatorError `SnapshotCorrupt`, if a file cannot be read */
export async function printDifference(
  log: Log,
  dataDirectory: string,
  { id, otherId }: { readonly id: string; readonly otherId: string },
  isJson: boolean,
): Promise<void> {
  const after = await readManifest(dataDirectory, id)
  const before = await readManifest(dataDirectory, otherId)
  const box = boxAround(after.sources.flatMap(({ shards }) => shards.map(({ box }) => box)))
  const map = box && createDensityMap(box)
  const sources: Compared[] = []
  const all = pairs(before, after)
  const progress = startProgress(log, 'comparing', all.length, 'sources')
  try {
    for (const { source, shards, otherShards } of all) {
      const change = await compareSource(
        { directory: join(snapshotsDirectory(dataDirectory), otherId), shards: otherShards },
        { directory: join(snapshotsDirectory(dataDirectory), id), shards },
        (coords) => map && addToMap(map, coords),
      )
      sources.push({ id: source.id, label: source.label, ...change })
      progress.update(sources.length)
    }
  } finally {
    progress.stop()
  }
  if (isJson) {
    const drawn = map && { ...map, counts: [...map.counts] }
    print(JSON.stringify({ id, againstId: otherId, sources, map: drawn }, null, 2))
    return
  }
  print(`snapshot    ${id}`)
  print(`against     ${otherId}`)
  print()
  printSources(sources)
  if (map?.counts.some((count) => count > 0)) printMoved(map)
}

interface Pair {
  /** As it is in the newer one, if it is there. */
  readonly source: ManifestSource
  readonly shards: ManifestSource['shards']
  readonly otherShards: ManifestSource['shards']
}

/** All sources of either, by ascending id. */
function pairs(before: Manifest, after: Manifest): Pair[] {
  const ids = new Set([...before.sources, ...after.sources].map(({ id }) => id))
  return [...ids]
    .sort((a, b) => a - b)
    .flatMap((id) => {
      const ours = after.sources.find((source) => source.id === id)
      const theirs = before.sources.find((source) => source.id === id)
      const source = ours ?? theirs
      if (source === undefined) return []
      return [{ source, shards: ours?.shards ?? [], otherShards: theirs?.shards ?? [] }]
    })
}

function printSources(sources: readonly Compared[]): void {
  const heads = ['source', '<label', 'came', 'left', 'stayed', 'moved']
  const rows = sources.map(({ id, label, came, left, stayed, moved }) => [
    ...[String(id), label],
    ...[came, left, stayed, moved].map(String),
  ])
  for (const line of formatTable(heads, rows)) print(line)
}

function printMoved(map: DensityMap): void {
  const { minLng, minLat, maxLng, maxLat } = map.box
  print()
  print(
    `where the moved are now, from ${formatDegrees(minLng)} to ${formatDegrees(maxLng)} degrees east ` +
      `and from ${formatDegrees(minLat)} to ${formatDegrees(maxLat)} degrees north`,
  )
  for (const line of drawMap(map)) print(line)
}
