/**
 * Whether a version of the gazetteer is what was written: its file as a whole before it is mapped into memory,
 * and each record of it.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Of } from '../snapshot/load/sha256.js'
import { corrupt, readFault } from '../snapshot/open-file.js'
import { decodeArea } from './area-record.js'
import { listVersions, readCurrentAreas, versionDirectory } from './directory.js'
import { type AreasManifest, readAreasManifest } from './manifest.js'
import { type AreaTables, DATA_FILE, openAreaTables } from './tables.js'

/**
 * Reads every byte of it.
 *
 * @throws OperatorError  SnapshotCorrupt, NewerFormat, or Failed where the system does not let it read
 */
export async function verifyVersion(
  dataDirectory: string,
  version: string,
): Promise<AreasManifest> {
  const manifest = readAreasManifest(dataDirectory, version)
  await assertData(join(versionDirectory(dataDirectory, version), DATA_FILE), manifest)
  return manifest
}

/** @throws OperatorError  SnapshotCorrupt, or Failed */
async function assertData(
  path: string,
  { dataBytes, dataSha256 }: Pick<AreasManifest, 'dataBytes' | 'dataSha256'>,
): Promise<void> {
  const { size } = await stat(path).catch((error) => {
    throw readFault(path, error)
  })
  if (size !== dataBytes) throw corrupt(path, `found ${size} bytes, expected ${dataBytes}`)
  const found = await sha256Of(path)
  if (found !== dataSha256) throw corrupt(path, `found SHA-256 ${found}, expected ${dataSha256}`)
}

/**
 * Reads back each area of tables whose file is what was written.
 *
 * @throws DamagedRecord
 */
export function readBack({ areas }: AreaTables): { areaCount: number; vertexCount: number } {
  let areaCount = 0
  let vertexCount = 0
  for (const { value } of areas.getRange({})) {
    vertexCount += decodeArea(value).polygons.vertices.length / 2
    areaCount++
  }
  return { areaCount, vertexCount }
}

interface VersionState {
  readonly version: string
  readonly isCurrent: boolean
  /** Undefined where it cannot be read. */
  readonly manifest: AreasManifest | undefined
  /** Undefined where it is intact. */
  readonly fault: string | undefined
}

/** All versions that are there, or the current one alone, byte by byte and record by record. */
export async function verifyAreas(
  dataDirectory: string,
  which: 'all' | 'current',
): Promise<VersionState[]> {
  const current = readCurrentAreas(dataDirectory)
  const versions = new Set(await listVersions(dataDirectory))
  if (current !== undefined) versions.add(current)
  const states: VersionState[] = []
  for (const version of versions) {
    const isCurrent = version === current
    if (which === 'current' && !isCurrent) continue
    states.push({ version, isCurrent, ...(await stateOf(dataDirectory, version)) })
  }
  return states
}

async function stateOf(dataDirectory: string, version: string) {
  let manifest: AreasManifest | undefined
  try {
    manifest = await verifyVersion(dataDirectory, version)
    const tables = openAreaTables(versionDirectory(dataDirectory, version), 'read')
    try {
      readBack(tables)
    } finally {
      await tables.root.close()
    }
    return { manifest, fault: undefined }
  } catch (error) {
    return { manifest, fault: (error as Error).message }
  }
}
