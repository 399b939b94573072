/**
 * GPX 1.0 and 1.1 as GeoJSON: each waypoint is a point, each route a line, each track the lines of its
 * segments, in the order of the document. A track that ends where it begins is a line all the same.
 *
 * Elements are mapped here and not by a library, for the reasons that the reader of KML gives. Each
 * element with a latitude and a longitude is taken or refused, those of extensions too: receivers keep the way
 * between two points of a route in them, and without it the line would be another.
 *
 * @module
 */
import { readXml, type XmlElement } from '../xml/read-xml.js'
import { decimalIn } from './decimal.js'
import type { DrawnCollection, DrawnGeometry, Position } from './drawn.js'
import { drawnOf, type FileBounds, REQUEST_BOUNDS, XmlReading } from './file-feature.js'
import { geometryOfPieces } from './lines.js'

/**
 * @param source  a document
 * @param path  of the member that it came in
 * @throws ServiceError  InvalidGpx with the line, InvalidXml, TooComplex or TooManyVertices
 */
export function readGpx(
  source: Uint8Array | string,
  path: string,
  bounds: FileBounds = REQUEST_BOUNDS,
): DrawnCollection {
  const reading = new XmlReading('InvalidGpx', path, bounds)
  const root = readXml(source, path, bounds)
  if (root.name !== 'gpx' || !isGpx(root)) {
    reading.fail('is not GPX: its first element must be gpx, of version 1.0 or 1.1', root)
  }
  refuseOthers(root, [...READERS.keys()], reading)
  const geometries: (DrawnGeometry | null)[] = []
  for (const element of root.children) {
    const read = isGpx(element) ? READERS.get(element.name) : undefined
    if (read !== undefined) geometries.push(read(element, reading))
  }
  return drawnOf(geometries)
}

function isGpx({ namespace }: XmlElement): boolean {
  return namespace === '' || NAMESPACE.test(namespace)
}

/** The standard has http, and some apps of telephones write https. */
const NAMESPACE = /^https?:\/\/www\.topografix\.com\/GPX\/1\/[01]$/

/** Of a route or a track without positions: null. */
type GeometryReader = (element: XmlElement, reading: XmlReading) => DrawnGeometry | null

const READERS: ReadonlyMap<string, GeometryReader> = new Map(
  Object.entries({ wpt: readWaypoint, rte: readRoute, trk: readTrack }),
)

function readWaypoint(element: XmlElement, reading: XmlReading): DrawnGeometry {
  return { type: 'Point', coordinates: readPosition(element, reading) }
}

function readRoute(element: XmlElement, reading: XmlReading): DrawnGeometry | null {
  return geometryOfPieces([positionsIn(element, 'rtept', reading)])
}

function readTrack(element: XmlElement, reading: XmlReading): DrawnGeometry | null {
  refuseOthers(element, ['trkseg'], reading)
  const segments = childrenOf(element, 'trkseg')
  return geometryOfPieces(segments.map((segment) => positionsIn(segment, 'trkpt', reading)))
}

function positionsIn(element: XmlElement, name: string, reading: XmlReading): Position[] {
  refuseOthers(element, [name], reading)
  return childrenOf(element, name).map((point) => readPosition(point, reading))
}

function readPosition(element: XmlElement, reading: XmlReading): Position {
  reading.countPosition()
  refuseOthers(element, [], reading)
  const lng = degreesOf(element, 'lon')
  const lat = degreesOf(element, 'lat')
  if (lng !== undefined && lat !== undefined) return [lng, lat]
  return reading.fail(`has a ${element.name} whose lat and lon are not both numbers`, element)
}

function degreesOf(element: XmlElement, name: string): number | undefined {
  return decimalIn(element.attributes.get(name)?.trim() ?? '')
}

function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name && isGpx(child))
}

/** Refuses positions anywhere but in the children that are taken, of a container those of its own, too. */
function refuseOthers(element: XmlElement, taken: readonly string[], reading: XmlReading): void {
  if (taken.length > 0 && isPlaced(element)) refuse(element, reading)
  for (const child of element.children) {
    if (!taken.includes(child.name) || !isGpx(child)) refuseIfPlaced(child, reading)
  }
}

function refuseIfPlaced(element: XmlElement, reading: XmlReading): void {
  if (PARTS.has(element.name) || isPlaced(element)) refuse(element, reading)
  for (const child of element.children) refuseIfPlaced(child, reading)
}

function isPlaced({ attributes }: XmlElement): boolean {
  return attributes.has('lat') || attributes.has('lon')
}

function refuse(element: XmlElement, reading: XmlReading): never {
  const what = element.name === 'rpt' ? 'a point between those of a route' : 'a position'
  return reading.fail(`has ${what} where none is read: export it as a track`, element)
}

const PARTS: ReadonlySet<string> = new Set(['wpt', 'rte', 'rtept', 'trk', 'trkseg', 'trkpt', 'rpt'])
