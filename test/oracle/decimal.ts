/**
 * Coordinates as the decimals that a request has them in, of any number of places. A number is
 * taken as exactly the decimal that JavaScript prints for it: -71.1234567 is that decimal, not the
 * double next to it.
 *
 * @module
 */

/** Exact, in fractions of a unit of 1e-7 degree. */
export interface ExactVertex {
  readonly lng: bigint
  readonly lat: bigint
  /** By how many units a program that computes in doubles may have it elsewhere. */
  readonly lngDoubt: number
  readonly latDoubt: number
}

export interface ExactPath {
  readonly vertices: readonly ExactVertex[]
  /** How many fractions a unit has. */
  readonly unitScale: bigint
}

/** Decimals of a unit of 1e-7 degree. */
const UNIT_DECIMALS = 7
const TURN_UNITS = 3_600_000_000n

/**
 * A coordinate of more than seven decimals is off by at most 2^-22 units as a double, and a bit more
 * where it is moved by whole turns.
 */
const ROUNDING_UNITS = 2 ** -18

/** Paths of one shape, so that all have the same fractions. */
export function exactPaths(paths: readonly (readonly (readonly number[])[])[]): ExactPath[] {
  const decimals = paths.map((path) => path.map(([lng, lat]) => [decimalOf(lng), decimalOf(lat)]))
  const scale = decimals.flat(2).reduce((most, { places }) => Math.max(most, places), UNIT_DECIMALS)
  const unitScale = 10n ** BigInt(scale - UNIT_DECIMALS)
  const exact = ({ digits, places }: Decimal) => digits * 10n ** BigInt(scale - places)
  return decimals.map((path) => ({
    unitScale,
    vertices: path.map(([lng, lat]) => ({
      lng: exact(lng),
      lat: exact(lat),
      lngDoubt: doubtOf(lng),
      latDoubt: doubtOf(lat),
    })),
  }))
}

/** The same a number of turns further east. */
export function turnedVertex(vertex: ExactVertex, turns: number, unitScale: bigint): ExactVertex {
  return turns === 0 ? vertex : { ...vertex, lng: vertex.lng + BigInt(turns) * turnOf(unitScale) }
}

/** Once round the globe, in fractions. */
export function turnOf(unitScale: bigint): bigint {
  return TURN_UNITS * unitScale
}

/** Units from fractions of them, off by less than a millionth but for the last place of a double. */
export function unitsOfExact(value: bigint, unitScale: bigint): number {
  return unitScale === 1n ? Number(value) : Number((value << 20n) / unitScale) / 2 ** 20
}

/** Units of a coordinate in degrees. */
export function unitsOf(degrees: number): number {
  const { digits, places } = decimalOf(degrees)
  const left = UNIT_DECIMALS - places
  return left >= 0
    ? Number(digits * 10n ** BigInt(left))
    : unitsOfExact(digits, 10n ** BigInt(-left))
}

/** Units of a longitude in degrees less its whole turns: more than -180 degrees, up to 180. */
export function reducedLngUnitsOf(degrees: number): number {
  const [{ vertices, unitScale }] = exactPaths([[[degrees, 0]]])
  const turn = turnOf(unitScale)
  const rest = ((vertices[0].lng % turn) + turn) % turn
  return unitsOfExact(rest > turn / 2n ? rest - turn : rest, unitScale)
}

/** digits / 10^places, which may be negative places for numbers that end in zeros. */
interface Decimal {
  readonly digits: bigint
  readonly places: number
}

function decimalOf(value: number): Decimal {
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(value))
  if (parts === null) throw new Error(`a coordinate is a finite number, not ${value}`)
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = BigInt(whole + fraction)
  return { digits: sign === '' ? digits : -digits, places: fraction.length - Number(exponent) }
}

/** With seven decimals it is a whole number of units, which a double has exactly. */
function doubtOf({ digits, places }: Decimal): number {
  if (places <= UNIT_DECIMALS) return 0
  const units = Math.abs(Number(digits)) / 10 ** (places - UNIT_DECIMALS)
  return ROUNDING_UNITS + (Number.isFinite(units) ? units * 2 ** -52 : 0)
}
