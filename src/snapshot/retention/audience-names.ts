/**
 * Where frozen audiences lie below the data directory, and which snapshots they hold:
 *
 *   audiences/<id>.<snapshot id>.<seconds since 1970 at which it expires>
 *   audiences/<any name>.tmp                                    being written; garbage after a crash
 *
 * The name has all that decides what stays on the disk, so that damage in a file changes nothing in that.
 *
 * @module
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SNAPSHOT_ID } from '../directory.js'

export interface AudienceName {
  /** Of the file. */
  readonly name: string
  /** 32 lower-case hexadecimal digits. */
  readonly id: string
  readonly snapshotId: string
  /** Milliseconds since 1970; a whole number of seconds. */
  readonly expiresMs: number
}

export const audiencesDirectory = (dataDirectory: string) => join(dataDirectory, 'audiences')

export function audienceName(id: string, snapshotId: string, expiresMs: number): AudienceName {
  const name = `${id}.${snapshotId}.${expiresMs / 1_000}`
  return { name, id, snapshotId, expiresMs }
}

/** Those that are there, expired or not; none where there is no such directory. */
export async function listAudienceNames(dataDirectory: string): Promise<AudienceName[]> {
  const names = await readdir(audiencesDirectory(dataDirectory)).catch(emptyIfMissing)
  return names.map(readName).filter((name) => name !== undefined)
}

/** Ids of the snapshots that audiences need which have not expired. */
export async function heldSnapshotIds(
  dataDirectory: string,
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const names = await listAudienceNames(dataDirectory)
  const live = names.filter(({ expiresMs }) => expiresMs > nowMs)
  return new Set(live.map(({ snapshotId }) => snapshotId))
}

function readName(name: string): AudienceName | undefined {
  const [id, snapshotId, seconds, ...others] = name.split('.')
  const isOne =
    others.length === 0 &&
    /^[0-9a-f]{32}$/.test(id) &&
    SNAPSHOT_ID.test(snapshotId ?? '') &&
    /^[0-9]{1,12}$/.test(seconds ?? '')
  return isOne ? { name, id, snapshotId, expiresMs: Number(seconds) * 1_000 } : undefined
}

function emptyIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
