/**
 * Areas of a FlatGeobuf file. Its frames are verified before the library reads what is in them: it would
 * take the end of a cut file for the end of the features.
 *
 * @module
 */
import { geojson } from 'flatgeobuf'
import { limits } from '../../limits.js'
import { type CrsStatement, readCrsName } from '../crs/crs-statement.js'
import {
  type AreaFeature,
  type AreaFile,
  type AreaGeometry,
  readingFrom,
  refuse,
  unreadable,
} from './area-file.js'
import { readWhole } from './whole-file.js'

/** As the library reads it. */
interface Header {
  readonly columns: readonly { readonly name: string }[] | null
  readonly featuresCount: number
  /** 0 where there is no index. */
  readonly indexNodeSize: number
  readonly crs: {
    readonly org: string | null
    readonly code: number
    readonly name: string | null
    readonly wkt: string | null
    readonly code_string: string | null
  } | null
}

const MAGIC_BYTES = 8
const LENGTH_BYTES = 4
const NODE_BYTES = 40
/** Of the specification, in place of one that could not be. */
const NODE_SIZE_MIN = 2

export async function openFlatGeobuf(path: string, file: string): Promise<AreaFile> {
  const bytes = await readWhole(path, file, 'FlatGeobuf', limits.areaFileBytes)
  const header = await headerOf(bytes, file)
  const featureCount = countFrames(bytes, header, file)
  return {
    fields: (header.columns ?? []).map(({ name }) => name),
    crs: crsOf(header),
    featureCount,
    features: readingFrom(file, 'FlatGeobuf', features(bytes)),
    close: async () => undefined,
  }
}

async function* features(bytes: Uint8Array): AsyncGenerator<AreaFeature> {
  for await (const { properties, geometry } of geojson.deserialize(bytes)) {
    yield { properties: properties ?? {}, geometry: (geometry ?? null) as AreaGeometry | null }
  }
}

async function headerOf(bytes: Buffer, file: string): Promise<Header> {
  const headerBytes =
    bytes.length < MAGIC_BYTES + LENGTH_BYTES ? 0 : bytes.readUInt32LE(MAGIC_BYTES)
  const end = MAGIC_BYTES + LENGTH_BYTES + headerBytes
  if (headerBytes === 0 || end > bytes.length)
    refuse(file, 'it is damaged or cut off in its header')
  let header: Header | undefined
  try {
    const reading = geojson.deserialize(bytes.subarray(0, end), {
      headerMetaFn: (found: Header) => {
        header = found
        // What the library does next takes forever where an index is said to be of no features.
        throw new Error('the header is enough')
      },
    })
    await reading.next()
  } catch (error) {
    if (header === undefined) throw unreadable(file, 'FlatGeobuf', error)
  }
  return header ?? refuse(file, 'it has no header that can be read')
}

/** @returns how many features there are, which is what the header says if it says anything */
function countFrames(
  bytes: Buffer,
  { indexNodeSize, featuresCount }: Header,
  file: string,
): number {
  // Without a count there is no index.
  const isIndexed = indexNodeSize > 0
  if (!Number.isSafeInteger(featuresCount) || (isIndexed && featuresCount === 0))
    refuse(file, 'its header is damaged')
  let at = MAGIC_BYTES + LENGTH_BYTES + bytes.readUInt32LE(MAGIC_BYTES)
  if (isIndexed) at += indexBytes(featuresCount, indexNodeSize)
  let count = 0
  for (; at < bytes.length; count++) {
    const length = at + LENGTH_BYTES <= bytes.length ? bytes.readUInt32LE(at) : 0
    at += LENGTH_BYTES + length
    if (length === 0 || at > bytes.length)
      refuse(file, `it is damaged or cut off after ${count} features`)
  }
  if (at !== bytes.length || (featuresCount > 0 && count !== featuresCount)) {
    refuse(file, `it has ${count} features and says that it has ${featuresCount}: it is cut off`)
  }
  return count
}

/** All levels of the packed tree, down to one root. */
function indexBytes(featureCount: number, nodeSize: number): number {
  const perNode = Math.max(nodeSize, NODE_SIZE_MIN)
  let level = featureCount
  let nodeCount = level
  do {
    level = Math.ceil(level / perNode)
    nodeCount += level
  } while (level > 1)
  return nodeCount * NODE_BYTES
}

function crsOf({ crs }: Header): CrsStatement | undefined {
  if (crs === null) return undefined
  const { org, code, code_string: codeText, wkt, name } = crs
  if (wkt !== null && wkt !== '') return { kind: 'wkt', text: wkt }
  if (codeText !== null && codeText !== '') return readCrsName(`${org ?? 'EPSG'}:${codeText}`)
  // Without an organization, the code is one of EPSG.
  if (code !== 0) return readCrsName(`${org || 'EPSG'}:${code}`)
  return name === null || name === '' ? undefined : { kind: 'other', name }
}
