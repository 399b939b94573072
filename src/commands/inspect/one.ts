/**
 * Shows one snapshot: its sources, its regions and a map of its recipients.
 *
 * @module
 */
import { join } from 'node:path'
import { snapshotsDirectory } from '../../snapshot/directory.js'
import { filesOf, type Manifest, readManifest } from '../../snapshot/format/manifest.js'
import { type IdentitiesFile, identitiesFiles } from '../../snapshot/identities/list.js'
import { readCoordinates } from '../../snapshot/load/read-columns.js'
import { readStates, type SnapshotState } from '../../snapshot/retention/history.js'
import { recipientCountOf } from '../../snapshot/snapshot.js'
import type { SnapshotIds } from '../ids.js'
import { print } from '../output.js'
import { formatAge, formatBytes, formatDegrees } from '../quantities.js'
import { marksOf } from '../snapshot-list.js'
import { formatTable } from '../table.js'
import { addToMap, boxAround, createDensityMap, type DensityMap, drawMap } from './density-map.js'
import { retentionOf } from './retention.js'

/** @throws OperatorError `SnapshotCorrupt`, if the manifest cannot be read */
export async function printSnapshot(
  dataDirectory: string,
  { current }: SnapshotIds,
  id: string,
  isJson: boolean,
): Promise<void> {
  const manifest = await readManifest(dataDirectory, id)
  const isCurrent = current.snapshotId === id
  const retained = await readRetained(dataDirectory, id)
  const regions = await readRegions(join(snapshotsDirectory(dataDirectory), id), manifest)
  if (isJson) {
    const { map, ...rest } = regions
    const drawn = map === undefined ? undefined : { ...map, counts: [...map.counts] }
    const { state, pinsFault } = retained
    const retention = state === undefined ? undefined : retentionOf(state)
    const head = { isCurrent, retention, pinsFault }
    print(JSON.stringify({ ...head, ...manifest, ...rest, map: drawn }, null, 2))
    return
  }
  printHead(manifest, await identitiesFiles(dataDirectory, id), isCurrent, retained)
  print()
  printSources(manifest)
  print()
  printRegions(manifest, regions)
}

interface Retained {
  readonly state?: SnapshotState
  /** Why nothing is known of it. */
  readonly pinsFault?: string
}

async function readRetained(dataDirectory: string, id: string): Promise<Retained> {
  try {
    return { state: (await readStates(dataDirectory, [id]))[0] }
  } catch (error) {
    return { pinsFault: (error as Error).message }
  }
}

interface Regions {
  readonly map: DensityMap | undefined
  /** By the name of each file: the version of its format, or why it cannot be read. */
  readonly files: Readonly<Record<string, { formatVersion: number } | { fault: string }>>
}

async function readRegions(directory: string, { sources }: Manifest): Promise<Regions> {
  const shards = sources.flatMap(({ shards }) => shards)
  const box = boxAround(shards.map(({ box }) => box))
  if (box === undefined) return { map: undefined, files: {} }
  const map = createDensityMap(box)
  const files: Record<string, { formatVersion: number } | { fault: string }> = {}
  for (const { file, byteLength } of shards) {
    try {
      const { coords, version } = await readCoordinates(join(directory, file), byteLength)
      addToMap(map, coords)
      files[file] = { formatVersion: version }
    } catch (error) {
      files[file] = { fault: (error as Error).message }
    }
  }
  return { map, files }
}

function printHead(
  manifest: Manifest,
  identities: readonly IdentitiesFile[],
  isCurrent: boolean,
  { state, pinsFault }: Retained,
): void {
  const { id, createdAt, formatVersion, sources } = manifest
  const files = [...filesOf(manifest), ...identities]
  const bytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0)
  print(`snapshot    ${id}${isCurrent ? ' (current)' : ''}`)
  print(`state       ${state === undefined ? pinsFault : stateText(state)}`)
  print(`created     ${createdAt}, ${formatAge(Date.now() - Date.parse(createdAt))} ago`)
  print(`format      version ${formatVersion}, manifest SHA-256 ${manifest.sha256}`)
  print(`size        ${formatBytes(bytes)} in ${files.length} files`)
  print(`recipients  ${recipientCountOf(sources)} of ${sources.length} sources`)
  if ('repeats' in manifest) {
    const { numberCount, recipientCount, sha256 } = manifest.repeats
    print(`repeats     ${numberCount} numbers that ${recipientCount} recipients have`)
    print(`            SHA-256 ${sha256}`)
  } else print('repeats     not listed in this format: found when it is loaded')
}

function stateText(state: SnapshotState): string {
  const marks = marksOf(state)
  return (state.isGood && !state.isAccepted ? ['good', ...marks] : marks).join(', ')
}

function printSources(manifest: Manifest): void {
  const { sources } = manifest
  const total = Math.max(1, recipientCountOf(sources))
  const heads = ['source', '<label', 'recipients', 'share', 'contacts', 'regions', 'size']
  const rows = sources.map(({ id, label, recipientCount, contactCount, shards }) => [
    String(id),
    label,
    String(recipientCount),
    `${((100 * recipientCount) / total).toFixed(1)} %`,
    String(contactCount),
    String(shards.length),
    formatBytes(shards.reduce((sum, { byteLength }) => sum + byteLength, 0)),
  ])
  for (const line of formatTable(heads, rows)) print(line)
}

function printRegions({ sources }: Manifest, { map, files }: Regions): void {
  const heads = ['<region', 'recipients', 'size', 'format', 'west', 'south', 'east', 'north']
  const shards = sources.flatMap(({ shards }) => shards)
  const rows = shards.map(({ file, recipientCount, byteLength, box, sha256 }) => {
    const state = files[file]
    const { minLng, minLat, maxLng, maxLat } = box
    return [
      file,
      String(recipientCount),
      formatBytes(byteLength),
      'fault' in state ? 'damaged' : String(state.formatVersion),
      ...[minLng, minLat, maxLng, maxLat].map(formatDegrees),
      sha256.slice(0, SHOWN_DIGITS),
    ]
  })
  for (const line of formatTable([...heads, '<SHA-256'], rows)) print(line)
  for (const state of Object.values(files)) if ('fault' in state) print(state.fault)
  if (map === undefined) return
  const { minLng, minLat, maxLng, maxLat } = map.box
  print()
  print(
    `recipients from ${formatDegrees(minLng)} to ${formatDegrees(maxLng)} degrees east and ` +
      `from ${formatDegrees(minLat)} to ${formatDegrees(maxLat)} degrees north`,
  )
  for (const line of drawMap(map)) print(line)
}

/** Of a digest, so that a line is not too long; all of it is in the manifest. */
const SHOWN_DIGITS = 12
