/**
 * The list of the files of identities of a snapshot: `identities.json`, beside the manifest. Nothing that
 * a service answers depends on it, and earlier releases pass over it.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { limits } from '../../limits.js'
import { validatorOf } from '../../validator.js'
import { SNAPSHOT_ID, snapshotsDirectory } from '../directory.js'
import { corrupt, isCorrupt, readFault } from '../open-file.js'

export const IDENTITIES_LIST = 'identities.json'

const FORMAT = 'hickory-identities'

const closed = { additionalProperties: false } as const
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })

const FileSchema = Type.Object(
  {
    file: Type.String({ pattern: '^[0-9]+-[0-9]+\\.identities$' }),
    byteLength: Count,
    sha256: Digest,
    headerCrc32: Count,
  },
  closed,
)

const SourceSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
    /** Whether its recipients have keys. */
    hasKeys: Type.Boolean(),
    /**
     * Every batch of the journal up to this sequence that changes the source is in the files of the snapshot,
     * or was replaced by them. Left out where no batch was written before.
     */
    appliedSequence: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    /** By shard. */
    files: Type.Array(FileSchema),
  },
  closed,
)

const ListSchema = Type.Object(
  {
    format: Type.Literal(FORMAT),
    formatVersion: Type.Literal(1),
    /**
     * Of a snapshot that a compaction made: the snapshot of the import whose sources it has, with changes. Left
     * out of any other.
     */
    importId: Type.Optional(Type.String({ pattern: SNAPSHOT_ID.source })),
    /** By ascending id. */
    sources: Type.Array(SourceSchema, { maxItems: limits.sourceCount }),
    /** Of the JSON of all members above, without white space. */
    sha256: Digest,
  },
  closed,
)

export type IdentitiesFile = Static<typeof FileSchema>
export type SourceIdentities = Static<typeof SourceSchema>

const validator = validatorOf(ListSchema)

/**
 * @param sources  those of which the identities are known, by ascending id
 * @param importId  of a compaction
 */
export function encodeIdentities(sources: readonly SourceIdentities[], importId?: string): string {
  const ordered = sources.map(({ id, hasKeys, appliedSequence, files }) => ({
    id,
    hasKeys,
    ...(appliedSequence === undefined ? {} : { appliedSequence }),
    files: files.map(({ file, byteLength, sha256, headerCrc32 }) => {
      return { file, byteLength, sha256, headerCrc32 }
    }),
  }))
  const compaction = importId === undefined ? {} : { importId }
  const content = { format: FORMAT, formatVersion: 1, ...compaction, sources: ordered }
  const sha256 = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  return `${JSON.stringify({ ...content, sha256 }, null, 2)}\n`
}

/**
 * The sources of a snapshot of which the identities are known; none of a snapshot of an earlier release.
 *
 * @throws OperatorError  `SnapshotCorrupt`, or `Failed` where the system does not let it be read
 */
export async function readIdentities(
  dataDirectory: string,
  snapshotId: string,
): Promise<readonly SourceIdentities[]> {
  return (await readList(dataDirectory, snapshotId))?.sources ?? []
}

/**
 * The snapshot of the import of which a compaction made this one. Undefined of any other, and where it cannot be told.
 *
 * @throws OperatorError  `Failed`, where the system does not let it be read
 */
export async function readImportId(
  dataDirectory: string,
  snapshotId: string,
): Promise<string | undefined> {
  try {
    return (await readList(dataDirectory, snapshotId))?.importId
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return undefined
  }
}

/** Undefined of a snapshot of an earlier release. */
async function readList(
  dataDirectory: string,
  snapshotId: string,
): Promise<Static<typeof ListSchema> | undefined> {
  const path = join(snapshotsDirectory(dataDirectory), snapshotId, IDENTITIES_LIST)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw readFault(path, error)
  }
  const value = parsed(text)
  if (validator.Check(value) && encodeIdentities(value.sources, value.importId) === text) {
    return value
  }
  throw corrupt(path, 'it is not as it was written')
}

/** The files of identities; none where it cannot be told which they are. */
export async function identitiesFiles(
  dataDirectory: string,
  snapshotId: string,
): Promise<readonly IdentitiesFile[]> {
  const known = await readIdentities(dataDirectory, snapshotId).catch(() => [])
  return known.flatMap(({ files }) => files)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
