/**
 * Circles, corridors and margins as they are collected.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { EARTH_RADIUS_METRES, FARTHEST_METRES, haversineMetres } from '../great-circle.js'
import type { UnitRing } from '../polygon/antimeridian.js'
import { RADIANS_PER_UNIT } from '../units.js'
import { NO_REACHES, type Reaches } from './reaches.js'

/** Why a line has no one meaning, or too many arcs. */
export type ReachFault = 'AntipodalVertices' | 'TooManyArcs'

export class ReachList {
  readonly #arcs: number[] = []
  readonly #radiiMetres: number[] = []

  addCircle(lng: number, lat: number, radiusMetres: number): ReachFault | undefined {
    return this.#add(lng, lat, lng, lat, radiusMetres)
  }

  /** Adds what is within a distance of the great-circle arcs from each vertex to the next. */
  addCorridor(line: UnitRing, radiusMetres: number): ReachFault | undefined {
    if (line.length === 2) return this.addCircle(line[0], line[1], radiusMetres)
    for (let i = 2; i < line.length; i += 2) {
      if (areAntipodal(line[i - 2], line[i - 1], line[i], line[i + 1])) return 'AntipodalVertices'
      const fault = this.#add(line[i - 2], line[i - 1], line[i], line[i + 1], radiusMetres)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  /**
   * Adds what is within a distance of a line that is straight in longitude and latitude: great-circle
   * arcs so short that none leaves it by more than a centimetre.
   */
  addStraight(
    fromLng: number,
    fromLat: number,
    toLng: number,
    toLat: number,
    radiusMetres: number,
  ): ReachFault | undefined {
    const pieceCount = piecesOf(fromLng, fromLat, toLng, toLat)
    let lng = fromLng
    let lat = fromLat
    for (let piece = 1; piece <= pieceCount; piece++) {
      const share = piece / pieceCount
      const nextLng = piece === pieceCount ? toLng : fromLng + share * (toLng - fromLng)
      const nextLat = piece === pieceCount ? toLat : fromLat + share * (toLat - fromLat)
      const fault = this.#add(lng, lat, nextLng, nextLat, radiusMetres)
      if (fault !== undefined) return fault
      lng = nextLng
      lat = nextLat
    }
    return undefined
  }

  get arcCount(): number {
    return this.#radiiMetres.length
  }

  reaches(): Reaches {
    if (this.#radiiMetres.length === 0) return NO_REACHES
    return { arcs: new Float64Array(this.#arcs), radiiMetres: new Float64Array(this.#radiiMetres) }
  }

  #add(lng1: number, lat1: number, lng2: number, lat2: number, radiusMetres: number) {
    if (this.#radiiMetres.length >= limits.arcCount) return 'TooManyArcs'
    this.#arcs.push(lng1, lat1, lng2, lat2)
    this.#radiiMetres.push(radiusMetres)
    return undefined
  }
}

const TOLERANCE_RADIANS = 0.01 / EARTH_RADIUS_METRES

/**
 * A line straight in longitude and latitude has, where it spans dLng and dLat, the geodesic curvature
 * dLng sin(lat) (dLng² cos²(lat) + 2 dLat²) / length³, and a curve of curvature k leaves its chord by
 * k length² / 8 at most.
 */
function piecesOf(fromLng: number, fromLat: number, toLng: number, toLat: number): number {
  const lngSpan = Math.abs(toLng - fromLng) * RADIANS_PER_UNIT
  const latSpan = Math.abs(toLat - fromLat) * RADIANS_PER_UNIT
  const farLat = Math.max(Math.abs(fromLat), Math.abs(toLat)) * RADIANS_PER_UNIT
  const isAcrossEquator = fromLat < 0 !== toLat < 0
  const nearLat = isAcrossEquator
    ? 0
    : Math.min(Math.abs(fromLat), Math.abs(toLat)) * RADIANS_PER_UNIT
  const east = lngSpan * Math.cos(nearLat)
  const shortest = Math.hypot(latSpan, lngSpan * Math.cos(farLat))
  const longest = Math.hypot(latSpan, east)
  // The bracket is at most 2 length², which is the better bound where the line comes near a pole.
  const bend = Math.min(
    (east * east + 2 * latSpan * latSpan) / Math.max(shortest, Number.MIN_VALUE),
    2 * longest,
  )
  const deviation = (lngSpan * Math.sin(farLat) * bend) / 8
  // The equator and the meridians do not bend, but the arc between two places goes the short way.
  const leastCount = Math.ceil(Math.max(lngSpan, latSpan) / LONGEST_RADIANS)
  return Math.max(1, leastCount, Math.ceil(Math.sqrt(deviation / TOLERANCE_RADIANS)))
}

/** An eighth of a turn. */
const LONGEST_RADIANS = Math.PI / 4

/** Within a metre, far beyond rounding: then any great circle through one runs through the other. */
function areAntipodal(lng1: number, lat1: number, lng2: number, lat2: number): boolean {
  return haversineMetres(lng1, lat1, lng2, lat2) > FARTHEST_METRES - 1
}
