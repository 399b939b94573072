/**
 * The positions of a ring or a line as they were sent, and how far apart they are, exactly: an edge of
 * half a turn is as written, and one that is wider by whatever little runs the other way round the
 * globe.
 *
 * @module
 */
import { HALF_TURN } from '../units.js'

export interface SentPath {
  /** Longitudes and latitudes in units, alternately; a ring is not closed. */
  readonly units: readonly number[]
  /** The longitude of a vertex in degrees, for what the rounding of units could decide. */
  readonly lngDegreesAt: (vertex: number) => number
}

/**
 * Whether more than 180 degrees lie between two vertices, whose longitudes are within ±180. Units may
 * be rounded, to whole ones too, so near to half a turn longitudes are compared as the decimal numbers
 * that they were sent as.
 */
export function spansMoreThanHalfTurn(path: SentPath, from: number, to: number): boolean {
  const [west, east] = [path.units[2 * from], path.units[2 * to]]
  const span = Math.abs(east - west)
  if (Math.abs(span - HALF_TURN) > DOUBT_UNITS) return span > HALF_TURN
  const [a, b] = [decimalOf(path.lngDegreesAt(from)), decimalOf(path.lngDegreesAt(to))]
  const places = Math.max(a.places, b.places)
  const difference = scaled(a, places) - scaled(b, places)
  const halfTurn = 180n * 10n ** BigInt(places)
  return difference > halfTurn || difference < -halfTurn
}

/** Whether two vertices that follow each other, or the last and the first, are about half a turn apart. */
export function isSpanDoubtful(units: readonly number[]): boolean {
  let before = units[units.length - 2]
  for (let i = 0; i < units.length; i += 2) {
    if (Math.abs(Math.abs(units[i] - before) - HALF_TURN) <= DOUBT_UNITS) return true
    before = units[i]
  }
  return false
}

/** Far more than the rounding of two longitudes, which is less than a millionth of a unit. */
const DOUBT_UNITS = 1

/** digits / 10 ** places. */
interface Decimal {
  readonly digits: bigint
  readonly places: number
}

/** The shortest decimal that is read as this number, as JavaScript writes it. */
function decimalOf(value: number): Decimal {
  const [mantissa, exponent = '0'] = String(value).split('e')
  const [whole, fraction = ''] = mantissa.split('.')
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 }
}

function scaled({ digits, places }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - places)
}
