/**
 * Polygons in whole units, without what rounding leaves of rings that are narrower than one.
 *
 * @module
 */
import { doubleArea } from '../geometry/polygon/simple-loops.js'
import type { Region, Ring } from './clipper.js'

/** A shell that vanishes takes its holes along. */
export function tidied(region: Region): Region {
  return region.flatMap((polygon) => {
    const [shell, ...holes] = polygon.map(tidiedRing)
    return isRing(shell) ? [[shell, ...holes.filter(isRing)]] : []
  })
}

/** Rounded, and without vertices that are repeated or that an edge runs back from. */
function tidiedRing(ring: Ring): Ring {
  const kept: number[] = []
  for (let i = 0; i < ring.length; i += 2) {
    // Adding nothing makes 0 of -0.
    const [lng, lat] = [Math.round(ring[i]) + 0, Math.round(ring[i + 1]) + 0]
    if (isAt(kept, kept.length - 2, lng, lat)) continue
    if (isAt(kept, kept.length - 4, lng, lat)) kept.length -= 2
    else kept.push(lng, lat)
  }
  while (kept.length > 2 && isAt(kept, kept.length - 2, kept[0], kept[1])) kept.length -= 2
  return kept
}

function isAt(ring: readonly number[], at: number, lng: number, lat: number): boolean {
  return at >= 0 && ring[at] === lng && ring[at + 1] === lat
}

function isRing(ring: Ring): boolean {
  return ring.length >= 6 && doubleArea(ring) !== 0
}
