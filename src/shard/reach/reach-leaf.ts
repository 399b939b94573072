/**
 * Single points against the arcs that may reach them.
 *
 * @module
 */
import {
  BEYOND,
  CENTRE_LAT,
  CENTRE_LNG,
  isWithin,
  LAT_COSINE,
  LAT_SINE,
  NORTH,
  type ReachTable,
  SMALL_SQUARE,
  SOUTH,
  STRIDE,
  squaredChord,
  squaredChordOf,
  WITHIN,
} from '../../geometry/reach/reach-table.js'
import { RADIANS_PER_UNIT, UNITS_PER_TURN } from '../../geometry/units.js'
import type { RunList } from '../runs.js'

/** The arcs that may reach into a cell: entries [start, start + count). */
interface ActiveArcs {
  readonly arcs: Int32Array
  readonly start: number
  readonly count: number
}

/** Tests the points [start, end); returns how many are reached, and appends them to `runs` if any. */
export function testReachLeaf(
  coords: Int32Array,
  start: number,
  end: number,
  table: ReachTable,
  active: ActiveArcs,
  runs: RunList | null,
): number {
  const count = end - start
  if (count > reached.length) reserve(2 * count)
  reached.fill(0, 0, count)
  let isPlaced = false
  for (let i = active.start; i < active.start + active.count; i++) {
    const arc = active.arcs[i]
    if (table.isCircle[arc] === 1) testCircle(coords, start, count, table, arc)
    else {
      if (!isPlaced) place(coords, start, count)
      isPlaced = true
      testArc(coords, start, count, table, arc)
    }
  }
  let found = 0
  for (let i = 0; i < count; i++) {
    found += reached[i]
    if (reached[i] === 1) runs?.append(start + i, start + i + 1)
  }
  return found
}

let reached = new Uint8Array(128)
/** The points of a leaf on the unit sphere. */
let xs = new Float64Array(128)
let ys = new Float64Array(128)
let zs = new Float64Array(128)

function reserve(count: number): void {
  reached = new Uint8Array(count)
  xs = new Float64Array(count)
  ys = new Float64Array(count)
  zs = new Float64Array(count)
}

function testCircle(
  coords: Int32Array,
  start: number,
  count: number,
  table: ReachTable,
  arc: number,
): void {
  const { rows } = table
  const row = arc * STRIDE
  const south = rows[row + SOUTH]
  const north = rows[row + NORTH]
  const within = rows[row + WITHIN]
  const beyond = rows[row + BEYOND]
  const centreLat = rows[row + CENTRE_LAT]
  const centreLng = rows[row + CENTRE_LNG]
  const cosine = rows[row + LAT_COSINE]
  const sine = rows[row + LAT_SINE]
  for (let i = 0, at = 2 * start; i < count; i++, at += 2) {
    const lat = coords[at + 1]
    if (lat < south || lat > north) continue
    let lngStep = coords[at] - centreLng
    if (lngStep > UNITS_PER_TURN / 2 || lngStep < -UNITS_PER_TURN / 2)
      lngStep -= UNITS_PER_TURN * Math.round(lngStep / UNITS_PER_TURN)
    const latAngle = (lat - centreLat) * RADIANS_PER_UNIT
    const latSquare = squaredChordOf(latAngle)
    // The cosine of the point's latitude, from that of the centre and the step from there.
    const pointCosine = cosine * (1 - latSquare / 2) - sine * smallSine(latAngle)
    const square = latSquare + cosine * pointCosine * squaredChordOf(lngStep * RADIANS_PER_UNIT)
    if (square > beyond) continue
    if (square < within || isWithin(table, arc, coords[at], lat, square)) reached[i] = 1
  }
}

function testArc(
  coords: Int32Array,
  start: number,
  count: number,
  table: ReachTable,
  arc: number,
): void {
  const { rows } = table
  const row = arc * STRIDE
  const south = rows[row + SOUTH]
  const north = rows[row + NORTH]
  const within = rows[row + WITHIN]
  const beyond = rows[row + BEYOND]
  for (let i = 0, at = 2 * start; i < count; i++, at += 2) {
    const lat = coords[at + 1]
    if (lat < south || lat > north) continue
    const square = squaredChord(rows, row, xs[i], ys[i], zs[i])
    if (square > beyond) continue
    if (square < within || isWithin(table, arc, coords[at], lat, square)) reached[i] = 1
  }
}

/** Places the points on the unit sphere, by small steps from the first of them. */
function place(coords: Int32Array, start: number, count: number): void {
  const lng = coords[2 * start] * RADIANS_PER_UNIT
  const lat = coords[2 * start + 1] * RADIANS_PER_UNIT
  const lngCosine = Math.cos(lng)
  const lngSine = Math.sin(lng)
  const latCosine = Math.cos(lat)
  const latSine = Math.sin(lat)
  for (let i = 0, at = 2 * start; i < count; i++, at += 2) {
    const lngStep = coords[at] * RADIANS_PER_UNIT - lng
    const latStep = coords[at + 1] * RADIANS_PER_UNIT - lat
    const lngStepSine = smallSine(lngStep)
    const lngStepCosine = 1 - squaredChordOf(lngStep) / 2
    const latStepSine = smallSine(latStep)
    const latStepCosine = 1 - squaredChordOf(latStep) / 2
    const cosine = latCosine * latStepCosine - latSine * latStepSine
    xs[i] = cosine * (lngCosine * lngStepCosine - lngSine * lngStepSine)
    ys[i] = cosine * (lngSine * lngStepCosine + lngCosine * lngStepSine)
    zs[i] = latSine * latStepCosine + latCosine * latStepSine
  }
}

/** The sine, for small angles by its series. */
function smallSine(angle: number): number {
  const s = angle * angle
  if (s > SMALL_SQUARE) return Math.sin(angle)
  return angle * (1 - (s / 6) * (1 - (s / 20) * (1 - (s / 42) * (1 - s / 72))))
}
