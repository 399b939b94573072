/**
 * The snapshots of a data directory with their counts, beside those of the current one.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { filesOf, type ManifestSource, readManifest } from '../snapshot/format/manifest.js'
import { stateOf } from '../snapshot/open-file.js'
import { readLineage, readStates, type SnapshotState } from '../snapshot/retention/history.js'
import { DAMAGED } from '../snapshot/retention/origin.js'
import { recipientCountOf } from '../snapshot/snapshot.js'
import type { SnapshotIds } from './ids.js'
import { print } from './output.js'
import { formatAge } from './quantities.js'
import { formatTable } from './table.js'

/** Prints each snapshot, the newest first, and below it each of its sources. */
export async function printSnapshotList(
  dataDirectory: string,
  { ids, current }: SnapshotIds,
): Promise<void> {
  const { snapshotId: currentId } = current
  const lineage = await lineageOf(dataDirectory, currentId, ids)
  const here = currentId === undefined ? undefined : await contentOf(dataDirectory, currentId)
  const rows: string[][] = []
  for (const state of (await readStates(dataDirectory, ids)).reverse()) {
    const { id } = state
    const content = await contentOf(dataDirectory, id)
    const marks = [
      ...(id === currentId ? ['current'] : []),
      ...(lineage.includes(id) ? [] : ['rolled back from']),
      ...('fault' in content ? [content.fault] : []),
      ...marksOf(state),
    ]
    if ('fault' in content) {
      rows.push([id, '', '', '', '', marks.join(', ')])
      continue
    }
    const age = formatAge(Date.now() - Date.parse(content.createdAt))
    const others = here === undefined || 'fault' in here ? undefined : here.sources
    const total = recipientCountOf(content.sources)
    const difference = others === undefined ? '' : signed(total - recipientCountOf(others))
    rows.push([id, age, '', String(total), difference, marks.join(', ')])
    rows.push(...sourceRows(content.sources, others))
  }
  const heads = ['<snapshot', 'age', '<source', 'recipients', 'difference', '<']
  for (const line of formatTable(heads, rows)) print(line)
  if (current.fault !== undefined) print(current.fault)
}

/** What is to be said of a snapshot beside what is in it. */
export function marksOf({ pin, isGood, isAccepted, origin, importId }: SnapshotState): string[] {
  const forced =
    origin === undefined || origin === DAMAGED
      ? []
      : origin.sources.filter(({ forced }) => forced.length > 0)
  const sources = forced.map(({ id, forced }) => `source ${id} ${forced.join(' and ')}`).join('; ')
  return [
    ...(importId === undefined ? [] : [`${importId} with changes`]),
    ...(isGood ? [] : [origin === DAMAGED ? 'origin damaged' : `forced: ${sources}`]),
    ...(isAccepted ? ['accepted'] : []),
    ...(pin === undefined ? [] : [pin.note === undefined ? 'pinned' : `pinned: ${pin.note}`]),
  ]
}

interface Content {
  readonly createdAt: string
  readonly sources: readonly ManifestSource[]
}

/** By its manifest, and by whether its files have the sizes that this names. */
async function contentOf(
  dataDirectory: string,
  id: string,
): Promise<Content | { readonly fault: string }> {
  try {
    const manifest = await readManifest(dataDirectory, id)
    for (const { file, byteLength } of filesOf(manifest)) {
      const { size } = await stat(join(snapshotsDirectory(dataDirectory), id, file))
      if (size !== byteLength)
        return { fault: `damaged: ${file} has ${size} bytes instead of ${byteLength}` }
    }
    return manifest
  } catch (error) {
    return { fault: `${stateOf(error)}: ${(error as Error).message}` }
  }
}

async function lineageOf(
  dataDirectory: string,
  currentId: string | undefined,
  ids: readonly string[],
): Promise<readonly string[]> {
  return currentId === undefined ? ids : await readLineage(dataDirectory, currentId, ids)
}

/** Those of a snapshot, and those of the current one that it does not have. */
function sourceRows(
  sources: readonly ManifestSource[],
  others: readonly ManifestSource[] | undefined,
): string[][] {
  const missing = (others ?? [])
    .filter(({ id }) => !sources.some((source) => source.id === id))
    .map((source) => ({ ...source, recipientCount: 0 }))
  const all = [...sources, ...missing].sort((left, right) => left.id - right.id)
  return all.map(({ id, label, recipientCount }) => {
    const before = others?.find((other) => other.id === id)?.recipientCount ?? 0
    const difference = others === undefined ? '' : signed(recipientCount - before)
    return ['', '', `${id} ${label}`, String(recipientCount), difference, '']
  })
}

function signed(difference: number): string {
  return difference > 0 ? `+${difference}` : String(difference)
}
