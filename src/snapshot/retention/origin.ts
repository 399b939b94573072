/**
 * Where a snapshot comes from: the snapshots that it was made from, and which of its sources guards did
 * not pass. A file beside the manifest, which earlier releases pass over.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { limits } from '../../limits.js'
import { validatorOf } from '../../validator.js'
import { generationOf, SNAPSHOT_ID, snapshotsDirectory } from '../directory.js'
import { readFault } from '../open-file.js'

export const ORIGIN_FILE = 'origin.json'

const FORMAT = 'hickory-origin'

const closed = { additionalProperties: false } as const
const Id = Type.String({ pattern: SNAPSHOT_ID.source })

/** A source that is there, or that was and was removed. */
const SourceSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
    /** Its recipients when it last passed all guards; null if it never did. */
    goodCount: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    /** Guards that it would trip beside what was good, and that somebody overruled. */
    forced: Type.Array(Type.String({ pattern: '^[a-zA-Z]{1,32}$' }), { maxItems: 8 }),
  },
  closed,
)

const OriginSchema = Type.Object(
  {
    format: Type.Literal(FORMAT),
    formatVersion: Type.Literal(1),
    /** Those that were there when it was published, the newest first. */
    ancestors: Type.Array(Id),
    /** By ascending id. */
    sources: Type.Array(SourceSchema),
    /** Of the JSON of all members above, without white space. */
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  closed,
)

export type OriginSource = Static<typeof SourceSchema>
export type Origin = Pick<Static<typeof OriginSchema>, 'ancestors' | 'sources'>

/** Of a snapshot that is damaged in this respect: nothing good is known of it. */
export const DAMAGED = 'damaged'

const validator = validatorOf(OriginSchema)

export function encodeOrigin({ ancestors, sources }: Origin): string {
  const ordered = sources.map(({ id, goodCount, forced }) => ({ id, goodCount, forced }))
  const content = { format: FORMAT, formatVersion: 1, ancestors, sources: ordered }
  return `${JSON.stringify({ ...content, sha256: digestOf(content) }, null, 2)}\n`
}

/**
 * @returns undefined for a snapshot of an earlier release, which has no such file
 * @throws OperatorError `Failed`, where the system does not let it be read
 */
export async function readOrigin(
  dataDirectory: string,
  id: string,
): Promise<Origin | typeof DAMAGED | undefined> {
  const path = join(snapshotsDirectory(dataDirectory), id, ORIGIN_FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const fault = readFault(path, error)
    if (fault.code === 'Failed') throw fault
    return DAMAGED
  }
  try {
    const value: unknown = JSON.parse(text)
    return validator.Check(value) && encodeOrigin(value) === text ? value : DAMAGED
  } catch {
    return DAMAGED
  }
}

/**
 * The snapshots that one was made from, of those that are there, the newest first. Of one that does not
 * say, they are all that are older: an earlier release left no others.
 */
export function ancestorsOf(
  id: string,
  origin: Origin | typeof DAMAGED | undefined,
  ids: readonly string[],
): string[] {
  const newestFirst = ids.toReversed()
  return origin === undefined || origin === DAMAGED
    ? newestFirst.filter((other) => generationOf(other) < generationOf(id))
    : newestFirst.filter((other) => origin.ancestors.includes(other))
}

function digestOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
