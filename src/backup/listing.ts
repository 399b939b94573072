/**
 * What an archive holds, and what it may hold. Its last file lists all others, so that an archive that
 * is cut off has none:
 *
 *   CURRENT, snapshots/<id>/…   the current snapshot
 *   store/data.mdb              configuration, contexts and suppression lists
 *   journal/…                   the changes that go on from the snapshot
 *   areas/CURRENT, areas/<version>/…   the gazetteer
 *   *.json                      settings of the data directory, such as sources.json
 *   hickory-backup.json         the listing
 *
 * @module
 */
import Type, { type Static } from '#typebox'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { SNAPSHOT_ID } from '../snapshot/directory.js'
import { validatorOf } from '../validator.js'

export const LISTING_FILE = 'hickory-backup.json'
export const STORE_FILE = 'store/data.mdb'
export const CURRENT_FILE = 'CURRENT'
export const AREAS_CURRENT_FILE = 'areas/CURRENT'

/** A file at the top of a data directory that is archived, whatever it is for. */
export const SETTINGS_FILE = /^[a-z][a-z0-9-]{0,63}\.json$/

const closed = { additionalProperties: false } as const

const FileSchema = Type.Object(
  {
    name: Type.String(),
    byteLength: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  closed,
)

const ListingSchema = Type.Object(
  {
    format: Type.Literal('hickory-backup'),
    formatVersion: Type.Literal(1),
    /** ISO 8601, UTC. */
    createdAt: Type.String({ pattern: '^[0-9T:.-]+Z$' }),
    /** Null where there was none. */
    snapshotId: Type.Union([Type.Null(), Type.String({ pattern: SNAPSHOT_ID.source })]),
    /** In the order of the archive. */
    files: Type.Array(FileSchema, { maxItems: limits.backupFileCount }),
  },
  closed,
)

export type ArchivedFile = Static<typeof FileSchema>
export type Listing = Static<typeof ListingSchema>

const validator = validatorOf(ListingSchema)

export function encodeListing(
  createdAt: string,
  snapshotId: string | undefined,
  files: readonly ArchivedFile[],
): Buffer {
  const listing: Listing = {
    format: 'hickory-backup',
    formatVersion: 1,
    createdAt,
    snapshotId: snapshotId ?? null,
    files: [...files],
  }
  return Buffer.from(`${JSON.stringify(listing, null, 2)}\n`)
}

/** @throws OperatorError `InputRejected` */
export function decodeListing(archive: string, text: string): Listing {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged(archive, `its ${LISTING_FILE} is not JSON`)
  }
  if (validator.Check(value)) return value
  const { formatVersion } = (value ?? {}) as { formatVersion?: unknown }
  if (Number.isInteger(formatVersion) && Number(formatVersion) > 1) {
    throw ofLaterVersion(archive, `a backup of format ${formatVersion} instead of 1`)
  }
  const [error] = validator.Errors(value)
  throw damaged(archive, `its ${LISTING_FILE} has ${error?.instancePath}, which ${error?.message}`)
}

/**
 * Whether a file may be in an archive. Nothing else is written below a data directory, wherever it says
 * that it belongs.
 */
export function mayBeArchived(name: string): boolean {
  return ARCHIVED.some((names) => names.test(name))
}

/** Of the journal, its records, and what says where they end. */
const JOURNAL_FILE = /^journal\/(changes-[0-9]{6,12}\.journal|position|head\/data\.mdb)$/

/** The files of a snapshot, and documents beside its manifest. */
const SNAPSHOT_FILE =
  /^snapshots\/[0-9]{6,15}-[0-9a-f]{8}\/([a-z][a-z0-9-]{0,63}\.json|repeats|[0-9]{1,10}-[0-9]{1,10}\.(shard|identities))$/

/** The version of the gazetteer that is current. */
const AREAS_FILE = /^areas\/(CURRENT|[0-9]{6,15}-[0-9a-f]{8}\/(data\.mdb|manifest\.json))$/

const ARCHIVED = [
  /^CURRENT$/,
  /^store\/data\.mdb$/,
  SETTINGS_FILE,
  SNAPSHOT_FILE,
  JOURNAL_FILE,
  AREAS_FILE,
]

/** @param what  that is in it */
export function ofLaterVersion(archive: string, what: string): OperatorError {
  return new OperatorError(
    'NewerFormat',
    `${archive} holds ${what}, which a later version of Hickory wrote. Restore it with that version; nothing ` +
      'was taken from it',
  )
}

export function damaged(archive: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError(
    'InputRejected',
    `${archive} is not a whole backup: ${what}. Nothing was taken from it; use another backup`,
    { cause },
  )
}
