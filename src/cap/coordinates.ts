/**
 * Polygons and circles of an alert: `lat,lon lat,lon …` and `lat,lon radius` (CAP 1.2, 3.2.4), latitude first, in
 * degrees of WGS 84, the radius in kilometres.
 *
 * @module
 */
import type { ServiceErrorCode } from '../errors.js'
import { FARTHEST_METRES } from '../geometry/great-circle.js'
import { limits } from '../limits.js'
import type { Position } from '../notations/drawn.js'
import type { CapFaults } from './faults.js'
import type { AlertText } from './model.js'

interface CapCircle {
  readonly centre: Position
  /** Zero for a point. */
  readonly radiusMetres: number
}

/** A closed ring, longitude first; undefined where it is at fault. */
export function readPolygon(
  { text, path }: AlertText,
  faults: CapFaults,
): readonly Position[] | undefined {
  const fault = (code: ServiceErrorCode, problem: string) => {
    faults.add(code, path, problem)
    return undefined
  }
  const tokens = wordsOf(text, limits.vertexCount)
  if (tokens === undefined) {
    return fault('TooManyVertices', `has more than ${limits.vertexCount} points`)
  }
  const pairs: Pair[] = []
  for (const [i, token] of tokens.entries()) {
    const pair = readPair(token)
    if (pair === undefined) {
      return fault(
        'InvalidCap',
        `must be pairs "lat,lon" with space between them: pair ${i} is none`,
      )
    }
    pairs.push(pair)
  }
  if (!arePlaces(pairs, path, faults)) return undefined
  if (pairs.length < 4) {
    return fault(
      'CapPolygonTooFewPoints',
      'must have four points or more, the first one again at the end',
    )
  }
  const [first, last] = [pairs[0], pairs[pairs.length - 1]]
  if (first.lat !== last.lat || first.lng !== last.lng) {
    return fault('CapPolygonOpen', 'must end where it begins: add the first point at the end')
  }
  if (new Set(pairs.map(({ lat, lng }) => `${lat},${lng}`)).size < 3) {
    return fault('DegenerateRing', 'must have three different points or more')
  }
  return pairs.map(({ lat, lng }) => [lng, lat])
}

export function readCircle({ text, path }: AlertText, faults: CapFaults): CapCircle | undefined {
  const [centre, radius, ...rest] = wordsOf(text, CIRCLE_WORDS) ?? []
  const pair = centre === undefined ? undefined : readPair(centre)
  const radiusMetres = radius === undefined ? undefined : metresOf(radius)
  if (pair === undefined || radiusMetres === undefined || rest.length > 0) {
    faults.add('InvalidCap', path, 'must be "lat,lon radius", the radius in kilometres')
    return undefined
  }
  if (!arePlaces([pair], path, faults)) return undefined
  if (radiusMetres < 0) {
    faults.add('RadiusNotPositive', path, 'must not have a radius below 0')
    return undefined
  }
  if (radiusMetres > FARTHEST_METRES) {
    const most = Math.floor(FARTHEST_METRES / 1000)
    faults.add('InvalidRadius', path, `must have a radius of at most ${most} kilometres`)
    return undefined
  }
  return { centre: [pair.lng, pair.lat], radiusMetres }
}

/** The fewest decimals of any number of a polygon, or of the centre of a circle. */
export function fewestDecimals({ text }: AlertText): number {
  const numbers = (wordsOf(text, limits.vertexCount) ?? [])
    .filter((word) => word.includes(','))
    .flatMap((word) => word.split(','))
  return Math.min(...numbers.map((number) => number.split('.')[1]?.length ?? 0))
}

/** Of a polygon, the closing one counted. */
export function pointCount({ text }: AlertText): number {
  return wordsOf(text, Number.POSITIVE_INFINITY)?.length ?? 0
}

interface Pair {
  readonly lat: number
  readonly lng: number
}

const CIRCLE_WORDS = 8

/** Undefined for more than there may be. */
function wordsOf(text: string, most: number): readonly string[] | undefined {
  const words = text.split(/[ \t\r\n]+/).filter((word) => word !== '')
  return words.length > most ? undefined : words
}

function readPair(word: string): Pair | undefined {
  const [first, second, ...rest] = word.split(',')
  if (second === undefined || rest.length > 0) return undefined
  const lat = numberOf(first)
  const lng = numberOf(second)
  return lat === undefined || lng === undefined ? undefined : { lat, lng }
}

function numberOf(word: string): number | undefined {
  if (word.length > NUMBER_CHARS || !NUMBER.test(word)) return undefined
  // A latitude of -0 is a latitude of 0.
  return Number(word) + 0
}

/** Shifted as a text, so that 16.1 kilometres are 16,100 metres and not a little more. */
function metresOf(word: string): number | undefined {
  if (numberOf(word) === undefined) return undefined
  const [mantissa, exponent = '0'] = word.toLowerCase().split('e')
  return Number(`${mantissa}e${Number(exponent) + 3}`) + 0
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/
const NUMBER_CHARS = 64

/** Beyond one turn either way, a point is missing, or a decimal point. */
const LNG_DEGREES_MAX = 360
const LAT_DEGREES_MAX = 90

function arePlaces(pairs: readonly Pair[], path: string, faults: CapFaults): boolean {
  const within = ({ lat, lng }: Pair) =>
    Math.abs(lat) <= LAT_DEGREES_MAX && Math.abs(lng) <= LNG_DEGREES_MAX
  if (pairs.every(within)) return true
  if (pairs.every(({ lat, lng }) => Math.abs(lng) <= LAT_DEGREES_MAX && Math.abs(lat) <= 180)) {
    const problem =
      'has latitudes beyond 90, and would be right with latitude and longitude exchanged'
    faults.add('AxesExchanged', path, `${problem}: CAP has latitude first`)
  } else if (pairs.some(({ lat }) => Math.abs(lat) > LAT_DEGREES_MAX)) {
    faults.add('LatitudeOutOfRange', path, 'must have latitudes from -90 to 90')
  } else {
    faults.add('LongitudeOutOfRange', path, 'must have longitudes from -360 to 360')
  }
  return false
}
