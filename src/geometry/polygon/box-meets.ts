/**
 * Whether an area meets a box, exactly: an edge or a corner in common is enough.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import type { Bounds } from '../bounds.js'

/**
 * @param rings  of one polygon, its shell and its holes: longitude and latitude in units, alternately, not closed.
 *   Holes may overlap each other
 * @param box  closed
 */
export function boxMeets(rings: readonly (readonly number[])[], box: Readonly<Bounds>): boolean {
  if (rings.some((ring) => touches(ring, box))) return true
  // No edge comes near: all places of the box are inside, or none is.
  const [shell, ...holes] = rings
  return isWithin(shell, box) && !holes.some((hole) => isWithin(hole, box))
}

function touches(ring: readonly number[], box: Readonly<Bounds>): boolean {
  let [fromLng, fromLat] = ring.slice(-2)
  for (let at = 0; at < ring.length; at += 2) {
    const [lng, lat] = [ring[at], ring[at + 1]]
    if (edgeTouches(fromLng, fromLat, lng, lat, box)) return true
    fromLng = lng
    fromLat = lat
  }
  return false
}

function edgeTouches(
  aLng: number,
  aLat: number,
  bLng: number,
  bLat: number,
  { minLng, minLat, maxLng, maxLat }: Readonly<Bounds>,
): boolean {
  if (aLng < minLng && bLng < minLng) return false
  if (aLng > maxLng && bLng > maxLng) return false
  if (aLat < minLat && bLat < minLat) return false
  if (aLat > maxLat && bLat > maxLat) return false
  const side = (lng: number, lat: number) => Math.sign(orient2d(aLng, aLat, bLng, bLat, lng, lat))
  // An edge that is a place by itself is in both ranges then, and on no side of anything.
  const first = side(minLng, minLat)
  return (
    first === 0 ||
    side(maxLng, minLat) !== first ||
    side(maxLng, maxLat) !== first ||
    side(minLng, maxLat) !== first
  )
}

/** Whether a corner of the box, which is on no edge, is inside a ring. */
function isWithin(ring: readonly number[], { minLng, minLat }: Readonly<Bounds>): boolean {
  let isInside = false
  let [fromLng, fromLat] = ring.slice(-2)
  for (let at = 0; at < ring.length; at += 2) {
    const [lng, lat] = [ring[at], ring[at + 1]]
    if (fromLat > minLat !== lat > minLat) {
      const side = orient2d(fromLng, fromLat, lng, lat, minLng, minLat)
      if (side > 0 === lat > fromLat) isInside = !isInside
    }
    fromLng = lng
    fromLat = lat
  }
  return isInside
}
