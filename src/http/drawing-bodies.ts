/**
 * Bodies that are one drawing in a format with a media type of its own, such as an alert of CAP or a KML. All
 * other members of the request are in its query.
 *
 * @module
 */
import { type OperationName, operations } from '../interface/operations.js'
import { type JsonObject, parse } from '../selection/parse.js'

/** The media type of a zip with a KML in it, which is unpacked before it is read. */
export const KMZ_TYPE = 'application/vnd.google-earth.kmz'

/**
 * The request that a body asks as a whole; undefined for a body of another type, or for an operation that
 * takes no drawings.
 *
 * @throws ServiceError  InvalidJson
 */
export function drawingRequest(
  name: OperationName | undefined,
  mediaType: string,
  body: Uint8Array,
): JsonObject | undefined {
  if (name === 'PutAlertRequest') return alertIn(mediaType, body)
  if (name === undefined || !takesDrawings(name)) return undefined
  if (mediaType === GEOJSON_TYPE) return { geoJSON: parse(body) }
  if (mediaType === TOPOJSON_TYPE) return { topoJSON: parse(body) }
  const member = XML_MEMBERS.get(mediaType) ?? memberOfRoot(mediaType, body)
  // A copy: the memory is used again when the handler returns.
  return member === undefined ? undefined : { [member]: Uint8Array.from(body) }
}

/** An alert alone: nothing else that is drawn can be kept as one. */
function alertIn(mediaType: string, body: Uint8Array): JsonObject | undefined {
  if (mediaType === GEOJSON_TYPE) return { cap: parse(body) }
  const member = XML_MEMBERS.get(mediaType) ?? memberOfRoot(mediaType, body)
  return member === 'cap' ? { cap: Uint8Array.from(body) } : undefined
}

function takesDrawings(name: OperationName): boolean {
  const { properties } = operations[name].request as { properties?: object }
  return properties !== undefined && 'wkt' in properties
}

const GEOJSON_TYPE = 'application/geo+json'
const TOPOJSON_TYPE = 'application/topo+json'

const XML_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['application/cap+xml', 'cap'],
  ['application/vnd.google-earth.kml+xml', 'kml'],
  [KMZ_TYPE, 'kml'],
  ['application/gpx+xml', 'gpx'],
])

/**
 * Of XML that does not say more, the name of the first element decides. So it does where the type says nothing,
 * as curl sends a file: another body of these types does not begin with a tag.
 */
function memberOfRoot(mediaType: string, body: Uint8Array): string | undefined {
  if (!XML_TYPES.includes(mediaType) && !TYPES_OF_ANYTHING.includes(mediaType)) return undefined
  // Of UTF-16, too: its other bytes are zero.
  const text = Buffer.from(body.subarray(0, PROLOG_BYTES)).toString('latin1')
  if (!XML_TYPES.includes(mediaType) && !TAG.test(text)) return undefined
  const [, root] = ROOT.exec(text.replaceAll('\0', '').replace(ASIDES, '')) ?? []
  return root === undefined ? undefined : MEMBERS_OF_ROOTS.get(root)
}

const XML_TYPES = ['application/xml', 'text/xml']
/** What clients send where they are not told a type. */
const TYPES_OF_ANYTHING = ['', 'application/octet-stream', 'application/x-www-form-urlencoded']

const PROLOG_BYTES = 8_192
/** Behind a byte order mark of UTF-8, or of UTF-16, in which no other body is read. */
const TAG = /^(?:(?:\xef\xbb\xbf)?\s*|(?:\xff\xfe|\xfe\xff)[\s\0]*)</
/** Comments, declarations and instructions. */
const ASIDES = /<!--.*?-->|<\?.*?\?>/gs
/** Behind a byte order mark. */
const ROOT = /^[^<]*<(?:[\w.-]+:)?(\w+)[\s/>]/

const MEMBERS_OF_ROOTS: ReadonlyMap<string, string> = new Map([
  ['alert', 'cap'],
  ['kml', 'kml'],
  ['gpx', 'gpx'],
])
