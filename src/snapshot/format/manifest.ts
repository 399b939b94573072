/**
 * The manifest of a snapshot: its sources, and the digest of every file.
 *
 * The file is exactly what `encodeManifest` writes, and its last member is the SHA-256 of all the
 * others; so no byte of it can change unnoticed.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { validatorOf } from '../../validator.js'
import { generationOf, SNAPSHOT_ID, snapshotsDirectory } from '../directory.js'
import { corrupt, readFault } from '../open-file.js'
import { FORMAT_VERSION } from './container.js'
import { BoxSchema } from './shard-header.js'

export const MANIFEST_FILE = 'manifest.json'
export const REPEATS_FILE = 'repeats'

const FORMAT = 'hickory-snapshot'

const closed = { additionalProperties: false } as const
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })

const ShardSchema = Type.Object(
  {
    file: Type.String({ pattern: '^[0-9]+-[0-9]+\\.shard$' }),
    byteLength: Count,
    sha256: Digest,
    headerCrc32: Count,
    recipientCount: Count,
    box: BoxSchema,
  },
  closed,
)

const SourceSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
    label: Type.String(),
    recipientCount: Count,
    contactCount: Count,
    shards: Type.Array(ShardSchema),
  },
  closed,
)

const RepeatsSchema = Type.Object(
  {
    file: Type.Literal(REPEATS_FILE),
    byteLength: Count,
    sha256: Digest,
    headerCrc32: Count,
    numberCount: Count,
    recipientCount: Count,
  },
  closed,
)

const common = {
  format: Type.Literal(FORMAT),
  id: Type.String({ pattern: SNAPSHOT_ID.source }),
  createdAt: Type.String({ pattern: '^[0-9T:.-]+Z$' }),
  sources: Type.Array(SourceSchema, { maxItems: limits.sourceCount }),
  sha256: Digest,
}
const ManifestSchema1 = Type.Object({ ...common, formatVersion: Type.Literal(1) }, closed)
const ManifestSchema2 = Type.Object(
  { ...common, formatVersion: Type.Literal(FORMAT_VERSION), repeats: RepeatsSchema },
  closed,
)

export type ManifestShard = Static<typeof ShardSchema>
export type ManifestSource = Static<typeof SourceSchema>
/** The file of the repeats: its digest, the different phones in it and how many have them. */
export type ManifestFile = Static<typeof RepeatsSchema>
/** Of format version 1, which knows no repeats. */
type Manifest1 = Static<typeof ManifestSchema1>
/** Of the format version that is written. */
export type Manifest2 = Static<typeof ManifestSchema2>
export type Manifest = Manifest1 | Manifest2

const validators = {
  1: validatorOf(ManifestSchema1),
  [FORMAT_VERSION]: validatorOf(ManifestSchema2),
}

/** The name of a shard's file; it stays the same in every snapshot that carries the source over. */
export function shardFileName(sourceId: number, regionIndex: number): string {
  return `${sourceId}-${String(regionIndex).padStart(4, '0')}.shard`
}

/** @param sources  by ascending id */
export function createManifest(
  generation: number,
  createdAt: string,
  sources: readonly ManifestSource[],
  repeats: ManifestFile,
): Manifest2 {
  const content = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    id: snapshotId(generation, sources),
    createdAt,
    sources: sources.map(orderedSource),
    repeats: orderedRepeats(repeats),
  } as const
  return { ...content, sha256: sha256(JSON.stringify(content)) }
}

export function encodeManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/**
 * Reads and verifies the manifest in the directory of snapshot `id`.
 *
 * @throws OperatorError  as `readFault` says
 */
export async function readManifest(dataDirectory: string, id: string): Promise<Manifest> {
  const path = join(snapshotsDirectory(dataDirectory), id, MANIFEST_FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw readFault(path, error)
  }
  return decodeManifest(dataDirectory, path, id, text)
}

/** Every file beside the manifest. */
export function filesOf(manifest: Manifest): (ManifestShard | ManifestFile)[] {
  const shards = manifest.sources.flatMap(({ shards }) => shards)
  return 'repeats' in manifest ? [...shards, manifest.repeats] : shards
}

function decodeManifest(dataDirectory: string, path: string, id: string, text: string): Manifest {
  const manifest = checked(dataDirectory, path, text)
  const { sources } = manifest
  if (manifest.id !== id) throw corrupt(path, `found snapshot ${manifest.id}, expected ${id}`)
  const expected = rewritten(manifest)
  if (expected.id !== id) throw corrupt(path, `found the content of ${expected.id}, expected ${id}`)
  if (text !== encodeManifest(expected)) {
    throw corrupt(path, `found SHA-256 ${manifest.sha256}, expected ${expected.sha256} and no more`)
  }
  const fault = findSourceFault(sources)
  if (fault !== undefined) throw corrupt(path, fault)
  return manifest
}

function checked(dataDirectory: string, path: string, text: string): Manifest {
  let value: { formatVersion?: unknown } | null
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw corrupt(path, `found what is not JSON: ${(error as Error).message}`)
  }
  const version = value?.formatVersion
  if (version !== 1 && version !== FORMAT_VERSION) {
    const found = typeof version === 'number' ? version : 'that is no number'
    const problem = `found format version ${found}, expected 1 or ${FORMAT_VERSION}`
    if (Number.isInteger(found) && Number(found) > FORMAT_VERSION) {
      throw newer(dataDirectory, `${path}: ${problem}`)
    }
    throw corrupt(path, problem)
  }
  const validator = validators[version]
  if (validator.Check(value)) return value
  const [error] = validator.Errors(value)
  throw corrupt(path, `found ${error?.instancePath}, which ${error?.message}`)
}

function newer(dataDirectory: string, problem: string): OperatorError {
  return new OperatorError(
    'NewerFormat',
    `${problem}, because a later version of Hickory wrote this snapshot. Install that version again, or ` +
      `go back with \`hickory rollback --data ${dataDirectory}\` to the newest snapshot that this one reads`,
  )
}

/** The manifest as it must be for the sources that it lists. */
function rewritten(manifest: Manifest): Manifest {
  const { createdAt, sources } = manifest
  const generation = generationOf(manifest.id)
  if (manifest.formatVersion === FORMAT_VERSION) {
    return createManifest(generation, createdAt, sources, manifest.repeats)
  }
  const content = {
    format: FORMAT,
    formatVersion: 1,
    id: snapshotId(generation, sources),
    createdAt,
    sources: sources.map(orderedSource),
  } as const
  return { ...content, sha256: sha256(JSON.stringify(content)) }
}

function snapshotId(generation: number, sources: readonly ManifestSource[]): string {
  const digest = sha256(JSON.stringify(sources.map(orderedSource)))
  return `${String(generation).padStart(6, '0')}-${digest.slice(0, 8)}`
}

/** JSON with its members in the one order that is written. */
function orderedSource(source: ManifestSource): ManifestSource {
  const { id, label, recipientCount, contactCount } = source
  const shards = source.shards.map((shard) => {
    const { file, byteLength, sha256, headerCrc32, recipientCount, box } = shard
    const { minLng, minLat, maxLng, maxLat } = box
    const bounds = { minLng, minLat, maxLng, maxLat }
    return { file, byteLength, sha256, headerCrc32, recipientCount, box: bounds }
  })
  return { id, label, recipientCount, contactCount, shards }
}

function orderedRepeats(repeats: ManifestFile): ManifestFile {
  const { file, byteLength, sha256, headerCrc32, numberCount, recipientCount } = repeats
  return { file, byteLength, sha256, headerCrc32, numberCount, recipientCount }
}

function findSourceFault(sources: readonly ManifestSource[]): string | undefined {
  for (const [index, { id, recipientCount, shards }] of sources.entries()) {
    if (index > 0 && sources[index - 1].id >= id) return `found source ${id} out of order`
    const sum = shards.reduce((count, shard) => count + shard.recipientCount, 0)
    if (sum !== recipientCount) {
      return `found ${sum} recipients in the shards of source ${id}, expected ${recipientCount}`
    }
    const misnamed = shards.findIndex(({ file }, region) => file !== shardFileName(id, region))
    if (misnamed !== -1) return `found shard ${misnamed} of source ${id} under another name`
  }
  return undefined
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
