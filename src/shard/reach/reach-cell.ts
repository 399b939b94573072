/**
 * Cells of the kd-tree against the arcs that may reach into them.
 *
 * @module
 */
import {
  CENTRE_LAT,
  CENTRE_LNG,
  CHORD,
  LAT_COSINE,
  NORTH,
  type ReachTable,
  SOUTH,
  STRIDE,
  squaredChord,
  squaredChordOf,
} from '../../geometry/reach/reach-table.js'
import { RADIANS_PER_UNIT, UNITS_PER_TURN } from '../../geometry/units.js'

export const OUT = 0
export const CUT = 1
export const IN = 2

/** A cell in units; its measures are worked out when they are first asked for. */
interface Cell {
  minLng: number
  minLat: number
  maxLng: number
  maxLat: number
  /** The cosines of the latitude nearest to a pole and to the equator; negative while unknown. */
  leastCosine: number
  greatestCosine: number
  /** The centre as a vector, and the chord to its farthest corner; negative while unknown. */
  x: number
  y: number
  z: number
  radius: number
}

export function createCell(): Cell {
  return {
    minLng: 0,
    minLat: 0,
    maxLng: 0,
    maxLat: 0,
    leastCosine: -1,
    greatestCosine: -1,
    x: 0,
    y: 0,
    z: 0,
    radius: -1,
  }
}

export function setCell(
  cell: Cell,
  minLng: number,
  minLat: number,
  maxLng: number,
  maxLat: number,
): void {
  cell.minLng = minLng
  cell.minLat = minLat
  cell.maxLng = maxLng
  cell.maxLat = maxLat
  cell.leastCosine = -1
  cell.radius = -1
}

/** Whether an arc reaches nothing in the cell (OUT), all of it (IN), or that is not clear (CUT). */
export function sideOfArc(table: ReachTable, arc: number, cell: Cell): number {
  const { rows, isCircle } = table
  const row = arc * STRIDE
  if (cell.minLat > rows[row + NORTH] || cell.maxLat < rows[row + SOUTH]) return OUT
  return isCircle[arc] === 1 ? sideOfCircle(rows, row, cell) : sideOfSegment(rows, row, cell)
}

/** Rounding of chords, amply: six micrometres on the Earth. */
const CHORD_SLACK = 1e-12

/** Bounds each of the two terms of the haversine formula over the cell. */
function sideOfCircle(rows: Float64Array, row: number, cell: Cell): number {
  if (cell.leastCosine < 0) measureLats(cell)
  const chord = rows[row + CHORD]
  const latLow = cell.minLat - rows[row + CENTRE_LAT]
  const latHigh = cell.maxLat - rows[row + CENTRE_LAT]
  const middle = (cell.minLng + cell.maxLng) / 2 - rows[row + CENTRE_LNG]
  const turns = UNITS_PER_TURN * Math.round(middle / UNITS_PER_TURN)
  const lngLow = cell.minLng - rows[row + CENTRE_LNG] - turns
  const lngHigh = cell.maxLng - rows[row + CENTRE_LNG] - turns
  const cosine = rows[row + LAT_COSINE]

  const latNear = Math.max(0, latLow, -latHigh)
  const lngNear = Math.max(
    0,
    Math.min(Math.max(lngLow, -lngHigh), UNITS_PER_TURN - lngHigh, UNITS_PER_TURN + lngLow),
  )
  const least =
    squaredChordOf(latNear * RADIANS_PER_UNIT) +
    cosine * cell.leastCosine * squaredChordOf(lngNear * RADIANS_PER_UNIT)
  const outer = chord + CHORD_SLACK
  if (least > outer * outer) return OUT

  const latFar = Math.max(latHigh, -latLow)
  const lngFar = Math.min(UNITS_PER_TURN / 2, Math.max(lngHigh, -lngLow))
  const greatest =
    squaredChordOf(latFar * RADIANS_PER_UNIT) +
    cosine * cell.greatestCosine * squaredChordOf(lngFar * RADIANS_PER_UNIT)
  const inner = chord - CHORD_SLACK
  return inner > 0 && greatest < inner * inner ? IN : CUT
}

/** The chord from any point of the cell differs from that of its centre by its radius at most. */
function sideOfSegment(rows: Float64Array, row: number, cell: Cell): number {
  if (cell.radius < 0) measureBall(cell)
  const chord = rows[row + CHORD]
  const square = squaredChord(rows, row, cell.x, cell.y, cell.z)
  const outer = chord + cell.radius
  if (square > outer * outer) return OUT
  const inner = chord - cell.radius
  return inner > 0 && square < inner * inner ? IN : CUT
}

function measureLats(cell: Cell): void {
  const low = Math.cos(cell.minLat * RADIANS_PER_UNIT)
  const high = Math.cos(cell.maxLat * RADIANS_PER_UNIT)
  cell.leastCosine = Math.max(0, Math.min(low, high))
  const spansEquator = cell.minLat <= 0 && cell.maxLat >= 0
  cell.greatestCosine = spansEquator ? 1 : Math.max(low, high)
}

function measureBall(cell: Cell): void {
  const halfLng = ((cell.maxLng - cell.minLng) / 2) * RADIANS_PER_UNIT
  const halfLat = ((cell.maxLat - cell.minLat) / 2) * RADIANS_PER_UNIT
  const lng = cell.minLng * RADIANS_PER_UNIT + halfLng
  const lat = cell.minLat * RADIANS_PER_UNIT + halfLat
  const cosine = Math.cos(lat)
  cell.x = cosine * Math.cos(lng)
  cell.y = cosine * Math.sin(lng)
  cell.z = Math.sin(lat)
  // Chords are shorter than steps by latitude and by longitude where the parallels are longest.
  const widest = Math.min(1, cosine + halfLat) * halfLng
  cell.radius = Math.sqrt(halfLat * halfLat + widest * widest) + CHORD_SLACK
}
