/**
 * The audiences of a cluster: the owner of each, and the files that it is read from, which may be missing on the disk of a
 * machine.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Tables } from './tables.js'

interface FileDigest {
  readonly sha256: string
  readonly byteLength: number
}

/** The facts of an audience, without its recipients. */
export interface MadeAudience {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string
  readonly snapshotId: string
  /** The last batch of the journal that is in it. */
  readonly sequence: number
  /** Milliseconds since 1970; the second one is a whole number of seconds. */
  readonly createdMs: number
  readonly expiresMs: number
  /** The key that made it, and SHA-256 of the boundary that this key had; null if there was none. */
  readonly keyName: string | null
  readonly boundaryDigest: string | null
  /** See audiences/file.ts. */
  readonly digest: string
  readonly recipientCount: number
  readonly sources: readonly {
    readonly id: number
    readonly label: string
    readonly recipientCount: number
  }[]
  readonly file: FileDigest
}

/** With the documents of its snapshot, which name the other files of the snapshot. */
export interface AnnouncedAudience extends MadeAudience {
  readonly documents: readonly (FileDigest & { readonly file: string })[]
}

export interface SharedAudience extends AnnouncedAudience {
  /** The entry of the journal that announced it. */
  readonly entrySequence: number
}

export interface SharedAudienceReader {
  /** Undefined if there is none, or it has expired. */
  find(id: string, nowMs: number): SharedAudience | undefined
  /** All that have not expired, in the order of their ids. */
  live(nowMs: number): SharedAudience[]
}

export function sharedAudienceReader({ audiences, refresh }: Tables): SharedAudienceReader {
  return {
    find(id, nowMs) {
      refresh()
      const text = audiences.get(id)
      const audience = text === undefined ? undefined : (JSON.parse(text) as SharedAudience)
      return audience !== undefined && audience.expiresMs > nowMs ? audience : undefined
    },
    live(nowMs) {
      refresh()
      return readAll({ audiences }).filter(({ expiresMs }) => expiresMs > nowMs)
    },
  }
}

/**
 * Adds an audience, and removes expired ones.
 *
 * @param atMs  when it was announced, by the clock of the machine that did, so that the outcome is the same on all machines
 * @throws ServiceError  TooManyAudiences, before anything is changed
 */
export function putAudience(
  { audiences }: Pick<Tables, 'audiences'>,
  audience: SharedAudience,
  atMs: number,
): void {
  const others = readAll({ audiences }).filter(({ id }) => id !== audience.id)
  const live = [...others.filter(({ expiresMs }) => expiresMs > atMs), audience]
  refuseTooManyAudiences({
    count: live.length,
    byteLength: live.reduce((sum, { file }) => sum + file.byteLength, 0),
    snapshotCount: new Set(live.map(({ snapshotId }) => snapshotId)).size,
  })
  for (const { id, expiresMs } of others) if (expiresMs <= atMs) audiences.remove(id)
  audiences.put(audience.id, JSON.stringify(audience))
}

/** @throws ServiceError  UnknownAudience */
export function removeAudience({ audiences }: Pick<Tables, 'audiences'>, id: string): void {
  if (audiences.get(id) === undefined) throw unknownAudience()
  audiences.remove(id)
}

/** The same for an audience of another key: its existence is not revealed. */
export function unknownAudience(): ServiceError {
  const problem = 'there is no such audience, or it has expired'
  return new ServiceError('UnknownAudience', `${problem}; make it again`, 'Id')
}

/**
 * @param use  of all audiences together, with the new one
 * @throws ServiceError  TooManyAudiences
 */
export function refuseTooManyAudiences(use: {
  readonly count: number
  /** All their files. */
  readonly byteLength: number
  readonly snapshotCount: number
}): void {
  const { audienceCount, audiencesBytes, audienceSnapshotCount } = limits
  let most: string
  if (use.count > audienceCount) most = `${audienceCount} audiences`
  else if (use.byteLength > audiencesBytes) most = `${audiencesBytes} bytes of audiences`
  else if (use.snapshotCount > audienceSnapshotCount) {
    most = `audiences of ${audienceSnapshotCount} snapshots`
  } else return
  const advice = 'delete some, or wait until they expire'
  throw new ServiceError('TooManyAudiences', `there may be ${most} at a time: ${advice}`)
}

function readAll({ audiences }: Pick<Tables, 'audiences'>): SharedAudience[] {
  return Array.from(audiences.getRange({}), ({ value }) => JSON.parse(value) as SharedAudience)
}
