/**
 * What a version of the gazetteer says of itself. The digits behind the generation in the name of a version
 * are the first of the SHA-256 of its manifest, which has that of its file: so the name vouches for all of it, and the same
 * areas have the same digits on each machine. Earlier versions wrote the time into it, too.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { corrupt, readFault } from '../snapshot/open-file.js'
import { versionDirectory } from './directory.js'

export const MANIFEST_FILE = 'manifest.json'

/** Another one is not understood. */
const FORMAT = 1

export interface AreasManifest {
  readonly format: number
  /** Of data.mdb, and its SHA-256 in hexadecimal. */
  readonly dataBytes: number
  readonly dataSha256: string
  /** In the order of their names. */
  readonly layers: readonly ManifestLayer[]
}

export interface ManifestLayer {
  readonly layer: string
  readonly source?: string
  readonly licence?: string
  readonly areaCount: number
  readonly vertexCount: number
  readonly aliasCount: number
}

export function toManifest(facts: Omit<AreasManifest, 'format'>): AreasManifest {
  return { format: FORMAT, ...facts }
}

/** @param generation  greater than those of all versions before */
export function versionOf(manifest: AreasManifest, generation: number): string {
  return `${String(generation).padStart(6, '0')}-${digitsOf(manifest)}`
}

/** @throws OperatorError  SnapshotCorrupt, NewerFormat, or Failed where the system does not let it read */
export function readAreasManifest(dataDirectory: string, version: string): AreasManifest {
  const path = join(versionDirectory(dataDirectory, version), MANIFEST_FILE)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw readFault(path, error)
  }
  let manifest: AreasManifest
  try {
    manifest = JSON.parse(text) as AreasManifest
  } catch (error) {
    throw corrupt(path, 'is not JSON', error)
  }
  if (digitsOf(manifest) !== version.slice(version.indexOf('-') + 1)) {
    throw corrupt(path, 'is not what was written')
  }
  if (manifest.format === FORMAT) return manifest
  throw new OperatorError(
    'NewerFormat',
    `${path}: found format ${manifest.format}, expected ${FORMAT}, because a later version of Hickory wrote ` +
      'this gazetteer. Install that version again, or import the areas again',
  )
}

/** When a version was written into this directory, in ISO 8601. */
export function createdTime(dataDirectory: string, version: string): string {
  return statSync(join(versionDirectory(dataDirectory, version), MANIFEST_FILE)).mtime.toISOString()
}

function digitsOf(manifest: AreasManifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 8)
}
