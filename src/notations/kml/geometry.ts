/**
 * The geometries of KML. Altitude modes, extrusion and tessellation say how a shape is shown above the ground,
 * and change nothing about whom it selects.
 *
 * @module
 */
import type { XmlElement } from '../../xml/read-xml.js'
import type { DrawnGeometry, Position } from '../drawn.js'
import type { XmlReading } from '../file-feature.js'
import { geometryOfPieces } from '../lines.js'
import { readCoord, readCoordinates } from './coordinates.js'
import { childOf, childrenOf, refuseOthers } from './elements.js'

export function isGeometry(name: string): boolean {
  return READERS.has(name)
}

/**
 * @param element  of KML, whose name is that of a geometry
 * @throws ServiceError  with the line of what is missing or cannot be taken
 */
export function readGeometry(element: XmlElement, reading: XmlReading): DrawnGeometry {
  const read = READERS.get(element.name)
  return read?.(element, reading) ?? reading.fail('has an unknown geometry', element)
}

type GeometryReader = (element: XmlElement, reading: XmlReading) => DrawnGeometry

const READERS: ReadonlyMap<string, GeometryReader> = new Map(
  Object.entries({
    Point: readPoint,
    LineString: readLine,
    LinearRing: readRingAsLine,
    Polygon: readPolygon,
    MultiGeometry: readMultiGeometry,
    Track: readTrack,
    MultiTrack: readMultiTrack,
  }),
)

function readPoint(element: XmlElement, reading: XmlReading): DrawnGeometry {
  const positions = positionsOf(element, 1, reading)
  if (positions.length > 1) reading.fail('has a Point with more than one position', element)
  return { type: 'Point', coordinates: positions[0] }
}

function readLine(element: XmlElement, reading: XmlReading): DrawnGeometry {
  return { type: 'LineString', coordinates: positionsOf(element, 2, reading) }
}

/** KML calls a ring that bounds no polygon a closed line. Where it is not closed, no edge is invented. */
function readRingAsLine(element: XmlElement, reading: XmlReading): DrawnGeometry {
  const coordinates = positionsOf(element, 2, reading)
  const first = coordinates[0]
  const last = coordinates[coordinates.length - 1]
  if (first[0] !== last[0] || first[1] !== last[1]) {
    reading.fail('has a LinearRing that does not end where it begins', element)
  }
  return { type: 'LineString', coordinates }
}

function readPolygon(element: XmlElement, reading: XmlReading): DrawnGeometry {
  refuseOthers(element, (name) => BOUNDARIES.includes(name), reading)
  const outer = childOf(element, 'outerBoundaryIs', reading)
  const shell = ringsOf(outer, reading)
  if (shell.length > 1) reading.fail('has an outerBoundaryIs with more than one ring', outer)
  // Programs write a hole each, or, since KML 2.0 allowed it, all of them into one.
  const holes = childrenOf(element, 'innerBoundaryIs').flatMap((inner) => ringsOf(inner, reading))
  return { type: 'Polygon', coordinates: [...shell, ...holes] }
}

const BOUNDARIES = ['outerBoundaryIs', 'innerBoundaryIs']

/** One at least: a hole that is lost would widen an area. */
function ringsOf(boundary: XmlElement, reading: XmlReading): Position[][] {
  refuseOthers(boundary, (name) => name === 'LinearRing', reading)
  const rings = childrenOf(boundary, 'LinearRing')
  if (rings.length === 0) reading.fail(`has an ${boundary.name} without a LinearRing`, boundary)
  return rings.map((ring) => positionsOf(ring, 1, reading))
}

function readMultiGeometry(element: XmlElement, reading: XmlReading): DrawnGeometry {
  refuseOthers(element, isGeometry, reading)
  const geometries = geometriesIn(element).map((child) => readGeometry(child, reading))
  return { type: 'GeometryCollection', geometries }
}

function readTrack(element: XmlElement, reading: XmlReading): DrawnGeometry {
  return geometryOfPieces([coordsOf(element, reading)]) as DrawnGeometry
}

/** Between tracks that are to be interpolated the line goes on; otherwise it is broken off there. */
function readMultiTrack(element: XmlElement, reading: XmlReading): DrawnGeometry {
  refuseOthers(element, (name) => name === 'Track', reading)
  const pieces = childrenOf(element, 'Track').map((track) => coordsOf(track, reading))
  const isOneLine = childrenOf(element, 'interpolate').some(({ text }) => isTrue(text))
  const geometry = geometryOfPieces(isOneLine ? [pieces.flat()] : pieces)
  return geometry ?? reading.fail('has a MultiTrack without a track', element)
}

function isTrue(text: string): boolean {
  return ['1', 'true'].includes(text.trim())
}

/** What moves along a track may be a model, whose place is that of the track. */
function coordsOf(track: XmlElement, reading: XmlReading): Position[] {
  refuseOthers(track, (name) => name === 'coord' || name === 'Model', reading)
  const coords = childrenOf(track, 'coord')
  if (coords.length === 0) reading.fail('has a track without coord', track)
  if (childrenOf(track, 'when').length > coords.length) {
    reading.fail('has a track with fewer coord than when: places are missing', track)
  }
  return coords.map((coord) => readCoord(coord, reading))
}

function positionsOf(element: XmlElement, least: number, reading: XmlReading): Position[] {
  refuseOthers(element, (name) => name === 'coordinates', reading)
  const coordinates = childOf(element, 'coordinates', reading)
  const positions = readCoordinates(coordinates, reading)
  if (positions.length < least) {
    const fewer = positions.length === 0 ? 'no position' : 'fewer than two positions'
    reading.fail(`has a ${element.name} with ${fewer}`, coordinates)
  }
  return positions
}

function geometriesIn(element: XmlElement): readonly XmlElement[] {
  return element.children.filter((child) => isGeometry(child.name))
}
