/**
 * The audiences that all machines of a cluster know: whose each of them is, and what files it is read from. Whether these
 * are on the disk of a machine is another matter.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Tables } from './tables.js'

/** A file by what is in it. */
interface FileDigest {
  readonly sha256: string
  readonly byteLength: number
}

/** What an audience says of itself, without anybody in it. */
export interface MadeAudience {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string
  readonly snapshotId: string
  /** Up to which batch of the journal changes are in it. */
  readonly sequence: number
  /** Milliseconds since 1970; the second one is a whole number of seconds. */
  readonly createdMs: number
  readonly expiresMs: number
  /** The key that made it, and SHA-256 of the boundary that this key had; null where there was none. */
  readonly keyName: string | null
  readonly boundaryDigest: string | null
  /** Of who is in it. */
  readonly digest: string
  readonly recipientCount: number
  readonly sources: readonly {
    readonly id: number
    readonly label: string
    readonly recipientCount: number
  }[]
  /** Its file. */
  readonly file: FileDigest
}

/** With the files that say which others its snapshot has. */
export interface AnnouncedAudience extends MadeAudience {
  readonly documents: readonly (FileDigest & { readonly file: string })[]
}

export interface SharedAudience extends AnnouncedAudience {
  /** Of the entry of the journal that announced it. */
  readonly entrySequence: number
}

export interface SharedAudienceReader {
  /** Undefined where there is none, or it has expired. */
  find(id: string, nowMs: number): SharedAudience | undefined
  /** Those that have not expired, in the order of their ids. */
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
 * Adds an audience, and forgets those that have expired.
 *
 * @param atMs  when it was announced, by the machine that wrote that: all machines go by the same clock here
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

/** The same for one that others made: nobody is told that it is there. */
export function unknownAudience(): ServiceError {
  const problem = 'there is no such audience, or it has expired'
  return new ServiceError('UnknownAudience', `${problem}; make it again`, 'Id')
}

/**
 * @param use  of all audiences together, with the one that is to come
 * @throws ServiceError  TooManyAudiences
 */
export function refuseTooManyAudiences(use: {
  readonly count: number
  /** Of their files. */
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
