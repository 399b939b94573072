/**
 * What is within a distance of a polygon whose edges are straight in longitude and latitude: the
 * polygon, and what is near enough to those parts of its edges that belong to it. A part of the
 * shell that a hole has cut out does not, and no part of a hole that is out of the shell.
 *
 * @module
 */

import { anyOf, type Region, upTo, type Verdict } from '../verdict.js'
import { partsOfEdges } from './edge-parts.js'
import { distanceMetres, type Place, straightLengthMetres } from './sphere.js'
import type { GlobeRing } from './unwrap.js'

/** Edges are followed in pieces by who is tested, which may leave them by a centimetre. */
const DOUBT_METRES = 0.02
const SHORTEST_METRES = 0.005

export function nearEdges(shell: GlobeRing, holes: readonly GlobeRing[], metres: number): Region {
  const parts = partsOfEdges(shell, holes)
  return (lngUnits, latUnits) => {
    let verdict: Verdict = 'outside'
    for (const { ends, isSure } of parts) {
      const near = nearPart({ lngUnits, latUnits }, ends, metres)
      verdict = anyOf([verdict, near === 'inside' && !isSure ? 'either' : near])
      if (verdict === 'inside') return verdict
    }
    return verdict
  }
}

/**
 * Halves the part over and over. No place of a piece can be nearer than half of what the distances
 * of its ends are more than the way along it, which rules out most pieces at once.
 */
export function nearPart(
  point: Place,
  [from, to]: readonly [Place, Place],
  metres: number,
): Verdict {
  const length = straightLengthMetres(from, to)
  const placeOn = (share: number): Place => ({
    lngUnits: from.lngUnits + share * (to.lngUnits - from.lngUnits),
    latUnits: from.latUnits + share * (to.latUnits - from.latUnits),
  })
  const distanceTo = (share: number) => distanceMetres(point, placeOn(share))
  const pieces = [{ start: 0, end: 1, startMetres: distanceTo(0), endMetres: distanceTo(1) }]
  let verdict: Verdict = 'outside'
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    const { start, end, startMetres, endMetres } = piece
    if (upTo(Math.min(startMetres, endMetres), metres, DOUBT_METRES) === 'inside') return 'inside'
    const pieceLength = length * (end - start)
    const least = (startMetres + endMetres - pieceLength) / 2
    if (upTo(least, metres, DOUBT_METRES) === 'outside') continue
    if (pieceLength < SHORTEST_METRES) {
      verdict = 'either'
      continue
    }
    const middle = (start + end) / 2
    const middleMetres = distanceTo(middle)
    pieces.push(
      { start, end: middle, startMetres, endMetres: middleMetres },
      { start: middle, end, startMetres: middleMetres, endMetres },
    )
  }
  return verdict
}
