/**
 * All snapshots of a data directory, by their manifests.
 *
 * @module
 */
import { journalDirectory } from '../../journal/files.js'
import { summaryOfJournal } from '../../journal/summary.js'
import { filesOf, type Manifest, readManifest } from '../../snapshot/format/manifest.js'
import { identitiesFiles } from '../../snapshot/identities/list.js'
import { stateOf } from '../../snapshot/open-file.js'
import { readStates, type SnapshotState } from '../../snapshot/retention/history.js'
import { recipientCountOf } from '../../snapshot/snapshot.js'
import type { SnapshotIds } from '../ids.js'
import { print } from '../output.js'
import { formatAge, formatBytes } from '../quantities.js'
import { marksOf } from '../snapshot-list.js'
import { formatTable } from '../table.js'
import { retentionOf } from './retention.js'

/** A snapshot, or why its manifest cannot be read. */
type Entry = { readonly id: string; readonly state: SnapshotState | undefined } & (
  | { readonly manifest: Manifest; readonly byteLength: number }
  | { readonly fault: string; readonly kind: 'newer' | 'damaged' }
)

export async function printOverview(
  dataDirectory: string,
  { ids, current }: SnapshotIds,
  isJson: boolean,
): Promise<void> {
  const entries: Entry[] = []
  let pinsFault: string | undefined
  const states = await readStates(dataDirectory, ids).catch((error: Error) => {
    pinsFault = error.message
    return []
  })
  for (const id of ids.toReversed()) {
    const state = states.find((state) => state.id === id)
    entries.push({ state, ...(await entryOf(dataDirectory, id)) })
  }
  const currentId = current.snapshotId ?? null
  const journal = journalOf(dataDirectory)
  if (isJson) {
    const snapshots = entries.map((entry) => summaryOf(entry, currentId))
    const { fault: currentFault } = current
    print(JSON.stringify({ currentId, currentFault, pinsFault, snapshots, ...journal }, null, 2))
    return
  }
  const heads = ['<snapshot', '<', 'age', 'sources', 'recipients', 'size', 'format', '<']
  for (const line of formatTable(heads, entries.map(rowOf(currentId)))) print(line)
  for (const entry of entries) if ('fault' in entry) print(`${entry.id}: ${entry.fault}`)
  if (current.fault !== undefined) print(current.fault)
  if (pinsFault !== undefined) print(pinsFault)
  if (journal.journalFault !== undefined) print(journal.journalFault)
  if (journal.journal !== null) print(journalLine(journal.journal))
}

type Journal = NonNullable<ReturnType<typeof summaryOfJournal>>

function journalOf(dataDirectory: string): { journal: Journal | null; journalFault?: string } {
  try {
    return { journal: summaryOfJournal(journalDirectory(dataDirectory)) ?? null }
  } catch (error) {
    return { journal: null, journalFault: (error as Error).message }
  }
}

function journalLine({ firstSequence, lastSequence, byteLength }: Journal): string {
  const batches =
    firstSequence > lastSequence
      ? `no batches since ${lastSequence}`
      : `batches ${firstSequence} to ${lastSequence}`
  return `journal of changes: ${batches}, ${formatBytes(byteLength)}`
}

async function entryOf(dataDirectory: string, id: string) {
  try {
    const manifest = await readManifest(dataDirectory, id)
    const files = [...filesOf(manifest), ...(await identitiesFiles(dataDirectory, id))]
    return { id, manifest, byteLength: files.reduce((sum, file) => sum + file.byteLength, 0) }
  } catch (error) {
    return { id, kind: stateOf(error), fault: (error as Error).message }
  }
}

function summaryOf(entry: Entry, currentId: string | null) {
  const { id, state } = entry
  const isCurrent = id === currentId
  const retention = state === undefined ? undefined : retentionOf(state)
  if ('fault' in entry) return { id, isCurrent, retention, fault: entry.fault }
  const { createdAt, formatVersion, sources } = entry.manifest
  return {
    id,
    isCurrent,
    retention,
    createdAt,
    formatVersion,
    sourceCount: sources.length,
    recipientCount: recipientCountOf(sources),
    byteLength: entry.byteLength,
  }
}

const rowOf = (currentId: string | null) => (entry: Entry) => {
  const summary = summaryOf(entry, currentId)
  const mark = summary.isCurrent ? 'current' : ''
  const marks = entry.state === undefined ? '' : marksOf(entry.state).join(', ')
  const kind = 'fault' in entry ? entry.kind : ''
  if (summary.createdAt === undefined) return [summary.id, mark, '', '', '', '', kind, marks]
  return [
    summary.id,
    mark,
    formatAge(Date.now() - Date.parse(summary.createdAt)),
    String(summary.sourceCount),
    String(summary.recipientCount),
    formatBytes(summary.byteLength),
    String(summary.formatVersion),
    marks,
  ]
}
