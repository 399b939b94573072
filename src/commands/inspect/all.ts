/**
 * All snapshots of a data directory, by their manifests.
 *
 * @module
 */
import { filesOf, type Manifest, readManifest } from '../../snapshot/format/manifest.js'
import { recipientCountOf } from '../../snapshot/snapshot.js'
import type { SnapshotIds } from '../ids.js'
import { print } from '../output.js'
import { formatAge, formatBytes } from '../quantities.js'
import { formatTable } from '../table.js'

/** A snapshot, or why its manifest cannot be read. */
type Entry = { readonly id: string } & ({ manifest: Manifest } | { fault: string })

export async function printOverview(
  dataDirectory: string,
  { ids, current }: SnapshotIds,
  isJson: boolean,
): Promise<void> {
  const entries: Entry[] = []
  for (const id of ids.toReversed()) entries.push(await entryOf(dataDirectory, id))
  const currentId = current.snapshotId ?? null
  if (isJson) {
    const snapshots = entries.map((entry) => summaryOf(entry, currentId))
    print(JSON.stringify({ currentId, currentFault: current.fault, snapshots }, null, 2))
    return
  }
  const heads = ['<snapshot', '<', 'age', 'sources', 'recipients', 'size', 'format']
  for (const line of formatTable(heads, entries.map(rowOf(currentId)))) print(line)
  for (const entry of entries) if ('fault' in entry) print(`${entry.id}: ${entry.fault}`)
  if (current.fault !== undefined) print(current.fault)
}

async function entryOf(dataDirectory: string, id: string): Promise<Entry> {
  try {
    return { id, manifest: await readManifest(dataDirectory, id) }
  } catch (error) {
    return { id, fault: (error as Error).message }
  }
}

function summaryOf(entry: Entry, currentId: string | null) {
  const { id } = entry
  const isCurrent = id === currentId
  if ('fault' in entry) return { id, isCurrent, fault: entry.fault }
  const { createdAt, formatVersion, sources } = entry.manifest
  const files = filesOf(entry.manifest)
  return {
    id,
    isCurrent,
    createdAt,
    formatVersion,
    sourceCount: sources.length,
    recipientCount: recipientCountOf(sources),
    byteLength: files.reduce((sum, { byteLength }) => sum + byteLength, 0),
  }
}

const rowOf = (currentId: string | null) => (entry: Entry) => {
  const summary = summaryOf(entry, currentId)
  const mark = summary.isCurrent ? 'current' : ''
  if (summary.createdAt === undefined) return [summary.id, mark, '', '', '', '', 'damaged']
  return [
    summary.id,
    mark,
    formatAge(Date.now() - Date.parse(summary.createdAt)),
    String(summary.sourceCount),
    String(summary.recipientCount),
    formatBytes(summary.byteLength),
    String(summary.formatVersion),
  ]
}
