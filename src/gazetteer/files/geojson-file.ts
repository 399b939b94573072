/**
 * Areas of GeoJSON: a FeatureCollection, or one feature a line, plain or packed. It is read twice, piece
 * by piece: what it says of its coordinates may come after the last feature.
 *
 * @module
 */
import { hasFurtherPages } from '../../geometry/further-pages.js'
import { limits } from '../../limits.js'
import { readInput } from '../../sources/files/input.js'
import { featureLines } from '../../sources/json/feature-collection.js'
import { type CrsStatement, readCrsName } from '../crs/crs-statement.js'
import { type AreaFeature, type AreaFile, type AreaGeometry, refuse, withOwn } from './area-file.js'

/** @param isCollection  and not a feature on each line */
export async function openGeoJson(
  path: string,
  file: string,
  isCollection: boolean,
): Promise<AreaFile> {
  let frame: object = {}
  const read = () => {
    const content = readInput(path, file, () => undefined)
    if (!isCollection) return linesOf(file, content)
    return linesOf(
      file,
      featureLines(file, content, (found) => {
        frame = found
      }),
    )
  }
  const fields = new Set<string>()
  let featureCount = 0
  for await (const { text } of read()) {
    featureCount++
    if (featureCount > SURVEYED_COUNT) continue
    const feature = featureIn(file, featureCount, text)
    for (const name of Object.keys(feature.properties)) fields.add(name)
  }
  return {
    fields: [...fields],
    crs: crsOfMember((frame as { crs?: unknown }).crs, file),
    featureCount,
    isLastPage: isCollection ? featureCount === 0 || !hasFurtherPages(frame) : undefined,
    features: features(file, read()),
    close: async () => undefined,
  }
}

/** Features whose fields are looked at before all are read. */
const SURVEYED_COUNT = 200

async function* features(file: string, lines: AsyncIterable<Line>): AsyncGenerator<AreaFeature> {
  let position = 0
  for await (const { text } of lines) yield featureIn(file, ++position, text)
}

/**
 * The member `crs`, which GeoJSON had until 2016 and GDAL still writes.
 *
 * @returns undefined where there is none: files of either age may have left it out
 */
export function crsOfMember(member: unknown, file: string): CrsStatement | undefined {
  if (member === undefined || member === null) return undefined
  const { properties } = member as { properties?: unknown }
  const { name } = (properties ?? {}) as { name?: unknown }
  if (typeof name === 'string') return readCrsName(name)
  return refuse(file, 'its "crs" has no name: say with --crs what its coordinates are')
}

function featureIn(file: string, position: number, text: string): AreaFeature {
  const wrong = (problem: string) => refuse(file, `feature ${position} ${problem}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return wrong('is not JSON')
  }
  const { type, id, properties, geometry } = (value ?? {}) as Record<string, unknown>
  if (type !== 'Feature') return wrong('is not a Feature of GeoJSON')
  if (typeof (properties ?? {}) !== 'object' || typeof (geometry ?? {}) !== 'object') {
    return wrong('has "properties" or a "geometry" that are no objects')
  }
  return {
    properties: withOwn((properties ?? {}) as Record<string, unknown>, { id }),
    geometry: (geometry ?? null) as AreaGeometry | null,
  }
}

interface Line {
  readonly text: string
}

/** Those that are not blank. */
async function* linesOf(file: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let pieces: Uint8Array[] = []
  let byteCount = 0
  const keep = (piece: Uint8Array) => {
    byteCount += piece.length
    if (byteCount > limits.areaFeatureBytes) {
      refuse(
        file,
        `a feature has more than ${limits.areaFeatureBytes} bytes: simplify it, or cut it`,
      )
    }
    // Copied, since who makes the bytes may use their room again.
    if (piece.length > 0) pieces.push(Uint8Array.from(piece))
  }
  const line = (): Line | undefined => {
    const bytes = Buffer.concat(pieces, byteCount)
    pieces = []
    byteCount = 0
    const decodedText = decoded(file, bytes)
    const isMarked = MARKS.some((mark) => decodedText.startsWith(mark))
    const text = (isMarked ? decodedText.slice(1) : decodedText).trim()
    return text === '' ? undefined : { text }
  }
  for await (const bytes of content) {
    let start = 0
    for (;;) {
      const end = bytes.indexOf(LF, start)
      if (end === -1) break
      keep(bytes.subarray(start, end))
      const found = line()
      if (found !== undefined) yield found
      start = end + 1
    }
    keep(bytes.subarray(start))
  }
  const last = line()
  if (last !== undefined) yield last
}

const LF = 0x0a
/** Before the first line, and before each text of a sequence (RFC 8142). */
const MARKS = ['\ufeff', '\x1e']

function decoded(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse(file, 'it is not in UTF-8')
  }
}
