/**
 * The snapshot that a new one is based on: sources that an import does not put are carried over from
 * it. Where it cannot be told what they are, nothing is published without them.
 *
 * @module
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { listSnapshots, readCurrent, snapshotsDirectory } from '../directory.js'
import { type ManifestSource, readManifest } from '../format/manifest.js'
import { isNewer, isUnusable } from '../open-file.js'

export interface Base {
  /** Undefined where there is none to carry anything over from. */
  readonly id: string | undefined
  readonly sources: readonly ManifestSource[]
  /** Why it cannot be carried over from; then no source may be left out of those that were there. */
  readonly fault: BaseFault | undefined
}

interface BaseFault {
  readonly error: OperatorError
  /** Sources of the snapshots that are there. */
  readonly sourceIds: readonly number[]
}

export async function readBase(dataDirectory: string): Promise<Base> {
  const ids = await listSnapshots(dataDirectory)
  try {
    const id = await readCurrent(dataDirectory)
    if (id !== undefined) {
      const { sources } = await readManifest(dataDirectory, id)
      return { id, sources, fault: undefined }
    }
    if (ids.length === 0) return { id: undefined, sources: [], fault: undefined }
    throw new OperatorError(
      'SnapshotMissing',
      `there is no CURRENT in ${dataDirectory}, which names one of the snapshots ${ids.join(', ')}`,
    )
  } catch (error) {
    if (!(error instanceof OperatorError) || error.code === 'Failed') throw error
    // Whoever goes back to this version says first which snapshot is current.
    if (isNewer(error)) throw error
    const sourceIds = await sourceIdsOf(dataDirectory, ids)
    return { id: undefined, sources: [], fault: { error, sourceIds } }
  }
}

/**
 * @param putIds  the sources of the new snapshot that are not carried over
 * @throws OperatorError  if others cannot be carried over
 */
export function assertNothingLost(
  dataDirectory: string,
  { fault }: Base,
  putIds: ReadonlySet<number>,
): void {
  if (fault === undefined) return
  const lostIds = fault.sourceIds.filter((id) => !putIds.has(id))
  if (lostIds.length > 0) throw cannotCarryOver(dataDirectory, fault.error, lostIds)
}

/** The error for a snapshot from which sources cannot be carried over. */
export function cannotCarryOver(
  dataDirectory: string,
  error: OperatorError,
  sourceIds: readonly number[],
): OperatorError {
  const plural = sourceIds.length > 1
  return new OperatorError(
    error.code,
    `${error.message}; so source${plural ? 's' : ''} ${sourceIds.join(', ')} cannot be carried ` +
      `over: go back to a sound snapshot with \`hickory rollback --data ${dataDirectory}\`, or ` +
      `import ${plural ? 'these' : 'this'} again in the same run`,
    { cause: error },
  )
}

/** By the manifests that are sound, and by the names of the files, whatever is in them. */
async function sourceIdsOf(dataDirectory: string, ids: readonly string[]): Promise<number[]> {
  const found = new Set<number>()
  for (const id of ids) {
    const manifest = await readManifest(dataDirectory, id).catch((error: unknown) => {
      if (!isUnusable(error)) throw error
    })
    for (const source of manifest?.sources ?? []) found.add(source.id)
    for (const file of await readdir(join(snapshotsDirectory(dataDirectory), id))) {
      const [, sourceId] = /^([0-9]+)-[0-9]+\.shard$/.exec(file) ?? []
      if (sourceId !== undefined) found.add(Number(sourceId))
    }
  }
  return [...found].sort((left, right) => left - right)
}
