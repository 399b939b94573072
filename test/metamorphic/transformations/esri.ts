/**
 * Transformations that send a shape as the Esri map libraries do.
 *
 * @module
 */
import { PROJECTED, ROUNDED } from '../leeway.js'
import { isUnambiguous } from '../nesting.js'
import { differentCount, readPath } from '../reading.js'
import { asEsri, mapPaths, type Shape, type Vertex } from '../shape.js'
import type { Transformation } from './transformation.js'

export const inDegrees: Transformation = (shape) =>
  isUnambiguous(shape) ? { geoJSON: asEsri(shape, 4326), leeway: ROUNDED } : undefined

/**
 * In metres. They are read as degrees of ten decimals, and what is within 1.5 m of the end of the
 * world as its end: not where either could change the meaning.
 */
export const inMetres: Transformation = (shape) => {
  const isRing = shape.kind === 'polygons'
  const isFirm = shape.parts.flat().every((path) => {
    const isPlain = path.every(
      ([lng, lat]) =>
        Math.abs(lat) < 89.9 &&
        (Math.abs(lng) === 180 || Math.abs(Math.abs(lng) - 180) > END_DEGREES) &&
        Math.abs(lng) < 540 - END_DEGREES,
    )
    return isPlain && (shape.kind === 'points' || readPath(path, isRing)?.isFirm)
  })
  if (!isFirm || !isUnambiguous(shape)) return undefined
  const metres = mapPaths(shape, (path) => path.map(inMercator))
  return isReadableInMetres(shape)
    ? { geoJSON: asEsri(metres, 102100), leeway: PROJECTED }
    : undefined
}

const END_DEGREES = 2e-5
const EARTH_METRES = 6_378_137

function inMercator([lng, lat]: Vertex): Vertex {
  const radians = (lat * Math.PI) / 180
  return [(lng * Math.PI * EARTH_METRES) / 180, EARTH_METRES * Math.asinh(Math.tan(radians))]
}

/** Rounded to ten decimals, three vertices must still be different. */
function isReadableInMetres({ kind, parts }: Shape): boolean {
  return kind !== 'polygons' || parts.flat().every((ring) => differentCount(ring, 2e-10) >= 3)
}
