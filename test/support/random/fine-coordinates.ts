/**
 * Coordinates as clients send them, of which seven decimals are the fewest: as a projection or the
 * arithmetic of a map library leaves them, next to a special value, or as any double.
 *
 * @module
 */
import type { Random } from './world.js'

/** Writes a position in units of 1e-7 degree as degrees, less than a unit from there. */
export type Pen = (position: readonly [lng: number, lat: number]) => number[]

export const sevenDecimals: Pen = ([lng, lat]) => [lng / 1e7, lat / 1e7]

/**
 * A pen for one shape, which writes the same coordinate the same way again, so that what is straight
 * or repeated stays so. Of ten shapes four have seven decimals.
 */
export function randomPen(random: Random): Pen {
  const share = random.unit()
  if (share < 0.4) return sevenDecimals
  return share < 0.7 ? penOf([random.pick(fineWays)], random) : penOf(ways, random)
}

/** As map libraries send what was drawn on a screen: with all digits that a double has. */
export function mapLibraryPen(random: Random): Pen {
  return penOf([anyDouble], random)
}

/** Units as coordinates of any number of decimals are, for what is drawn without a request. */
export function fineUnits(units: number, random: Random): number {
  const share = random.unit()
  if (share < 0.5) return units
  return share < 0.8 ? units + random.unit() - 0.5 : besideDouble(units, random.pick([1, -1]))
}

/** The next double up or down. */
export function besideDouble(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE
  const [bits] = new BigInt64Array(Float64Array.of(value).buffer)
  const isAway = value > 0 === direction > 0
  const [beside] = new Float64Array(BigInt64Array.of(bits + (isAway ? 1n : -1n)).buffer)
  return beside
}

type Axis = 'lng' | 'lat'
type Way = (units: number, random: Random, axis: Axis) => number

function penOf(choice: readonly Way[], random: Random): Pen {
  const written = new Map<string, number>()
  const write = (units: number, axis: Axis): number => {
    const key = `${axis} ${units}`
    const known = written.get(key)
    if (known !== undefined) return known
    const degrees = random.pick(choice)(units, random, axis)
    const limited = axis === 'lat' ? Math.max(-90, Math.min(90, degrees)) : degrees
    written.set(key, limited)
    return limited
  }
  return ([lng, lat]) => [write(lng, 'lng'), write(lat, 'lat')]
}

const plain: Way = (units) => units / 1e7
const somewhere: Way = (units, random) => (units + random.unit() - 0.5) / 1e7

/** Some decimals after the point. */
const decimals: Way = (units, random, axis) =>
  Number(somewhere(units, random, axis).toFixed(random.between(8, 17)))

/** Some digits in all, which are fewer decimals where there are more before the point. */
const digits: Way = (units, random, axis) =>
  Number(somewhere(units, random, axis).toPrecision(random.between(8, 17)))

/** One unit in the last place beside what may be the antimeridian, a pole or somebody's place. */
const beside: Way = (units, random) => besideDouble(units / 1e7, random.pick([1, -1]))

const HALF_WORLD_METRES = 20037508.342789244
const EARTH_METRES = 6_378_137

/** To Web Mercator and back, with all digits of the metres or some. */
const mercator: Way = (units, random, axis) => {
  const degrees = units / 1e7
  const places = random.pick([20, 9, 4, 3])
  const metres = (exact: number) => Number(exact.toFixed(places))
  if (axis === 'lng') return (metres((degrees * HALF_WORLD_METRES) / 180) / HALF_WORLD_METRES) * 180
  if (Math.abs(degrees) > 89) return degrees
  const y = metres(EARTH_METRES * Math.asinh(Math.tan((degrees * Math.PI) / 180)))
  return (Math.atan(Math.sinh(y / EARTH_METRES)) * 180) / Math.PI
}

/** A double that no decimal of fifteen digits names. */
const anyDouble: Way = (units, random, axis) => {
  let degrees = somewhere(units, random, axis)
  for (let tries = 0; tries < 4 && Number(degrees.toPrecision(15)) === degrees; tries++) {
    degrees = besideDouble(degrees, 1)
  }
  return degrees
}

const fineWays: readonly Way[] = [decimals, decimals, digits, beside, mercator, anyDouble]
const ways: readonly Way[] = [plain, plain, ...fineWays]
