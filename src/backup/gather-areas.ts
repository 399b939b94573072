/**
 * The gazetteer of a data directory, as it goes into a backup: the version that is current.
 *
 * @module
 */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { readCurrentAreas, versionDirectory } from '../gazetteer/directory.js'
import { MANIFEST_FILE, readAreasManifest } from '../gazetteer/manifest.js'
import { DATA_FILE } from '../gazetteer/tables.js'
import { isCorrupt, readFault } from '../snapshot/open-file.js'
import { bytesPart, filePart } from './gather.js'
import { AREAS_CURRENT_FILE } from './listing.js'
import type { Part } from './write-archive.js'

interface OpenAreas {
  readonly parts: readonly Part[]
  close(): Promise<void>
}

const ATTEMPT_COUNT = 5

/**
 * @returns undefined where there is none
 * @throws OperatorError  SnapshotCorrupt, NewerFormat, or Failed
 */
export async function openAreas(dataDirectory: string): Promise<OpenAreas | undefined> {
  for (let attempt = 1; ; attempt++) {
    const version = readCurrentAreas(dataDirectory)
    if (version === undefined) return undefined
    try {
      return await openVersionFiles(dataDirectory, version)
    } catch (fault) {
      // It may have been replaced and removed between the look at CURRENT and now.
      const isReplaced = isCorrupt(fault) && readCurrentAreas(dataDirectory) !== version
      if (!isReplaced || attempt === ATTEMPT_COUNT) throw fault
    }
  }
}

async function openVersionFiles(dataDirectory: string, version: string): Promise<OpenAreas> {
  const manifest = readAreasManifest(dataDirectory, version)
  const path = join(versionDirectory(dataDirectory, version), DATA_FILE)
  const handle = await open(path, 'r').catch((fault) => {
    throw readFault(path, fault)
  })
  const name = (file: string) => `areas/${version}/${file}`
  const { dataBytes, dataSha256 } = manifest
  return {
    parts: [
      bytesPart(AREAS_CURRENT_FILE, Buffer.from(`${version}\n`)),
      bytesPart(name(MANIFEST_FILE), Buffer.from(JSON.stringify(manifest))),
      filePart(name(DATA_FILE), handle, dataBytes, dataSha256),
    ],
    close: () => handle.close(),
  }
}
