/**
 * What is within a distance of a polygon whose edges are straight in longitude and latitude: the
 * polygon, and what is near enough to those parts of its edges that belong to it. A part of the
 * shell that a hole has cut out does not, and no part of a hole that is out of the shell.
 *
 * Parts are found by exact arithmetic, for vertices of 7 decimals at most.
 *
 * @module
 */
import { distanceMetres, type Place, straightLengthMetres, unitsOf } from './sphere.js'
import { type GlobeRing, TURN_UNITS } from './unwrap.js'
import { anyOf, type Region, upTo, type Verdict } from './verdict.js'

/** Edges are followed in pieces by who is tested, which may leave them by a centimetre. */
const DOUBT_METRES = 0.02
const SHORTEST_METRES = 0.005

export function nearEdges(shell: GlobeRing, holes: readonly GlobeRing[], metres: number): Region {
  const parts = partsOfEdges(shell, holes)
  return (lngUnits, latUnits) => {
    let verdict: Verdict = 'outside'
    for (const part of parts) {
      verdict = anyOf([verdict, nearPart({ lngUnits, latUnits }, part, metres)])
      if (verdict === 'inside') return verdict
    }
    return verdict
  }
}

type Part = readonly [from: Place, to: Place]

/**
 * Halves the part over and over. No place of a piece can be nearer than half of what the distances
 * of its ends are more than the way along it, which rules out most pieces at once.
 */
export function nearPart(point: Place, [from, to]: Part, metres: number): Verdict {
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

function partsOfEdges(shell: GlobeRing, holes: readonly GlobeRing[]): Part[] {
  const rings = [shell, ...holes].map(exactly)
  return rings.flatMap((ring, at) => {
    const others = rings.filter((_, other) => other !== at)
    const belongs = (place: Scaled) =>
      rings.every((other, which) => {
        if (which === at) return true
        const turns = other.turns.filter((turn) => isBeside(place, other, turn))
        const places = turns.map((turn) => placeOf(place, other.planar, turn))
        return which === 0 ? places.some((p) => p !== 'outside') : !places.includes('interior')
      })
    return edgesOf(ring.path).flatMap((edge) => partsOfEdge(edge, others, belongs))
  })
}

/** The edge between the places where other rings meet it, and those places themselves. */
function partsOfEdge(
  edge: Edge,
  others: readonly ExactRing[],
  belongs: (place: Scaled) => boolean,
): Part[] {
  if (others.length === 0) return [[unscaled(asScaled(edge[0])), unscaled(asScaled(edge[1]))]]
  const shares = [
    { over: 0n, under: 1n },
    { over: 1n, under: 1n },
    ...others.flatMap((ring) => sharesWhereMet(edge, ring)),
  ].sort(ascending)
  const pairs = shares.flatMap((share, at): [Share, Share][] =>
    at === 0
      ? [[share, share]]
      : [
          [share, share],
          [shares[at - 1], share],
        ],
  )
  return pairs
    .filter(([start, end]) => belongs(placeOn(edge, middleOf(start, end))))
    .map(([start, end]) => [unscaled(placeOn(edge, start)), unscaled(placeOn(edge, end))])
}

/** Exact positions in units of 1e-7 degree. */
type Exact = readonly [lng: bigint, lat: bigint]
type Edge = readonly [from: Exact, to: Exact]
interface ExactRing {
  readonly path: readonly Exact[]
  readonly planar: readonly Exact[]
  readonly turns: readonly number[]
  readonly west: bigint
  readonly east: bigint
}

/** A share of the way along an edge, as a fraction whose denominator is positive. */
interface Share {
  readonly over: bigint
  readonly under: bigint
}

/** A position as a fraction. */
interface Scaled {
  readonly lng: bigint
  readonly lat: bigint
  readonly under: bigint
}

function exactly({ path, planar, turns }: GlobeRing): ExactRing {
  const exact = ([lng, lat]: readonly number[]): Exact => {
    const units = [unitsOf(lng), unitsOf(lat)]
    if (!units.every(Number.isInteger)) throw new Error('margins are for 7 decimals at most')
    return [BigInt(units[0]), BigInt(units[1])]
  }
  const ring = planar.map(exact)
  const lngs = ring.map(([lng]) => lng).sort((a, b) => (a < b ? -1 : 1))
  return { path: path.map(exact), planar: ring, turns, west: lngs[0], east: lngs[lngs.length - 1] }
}

function edgesOf(path: readonly Exact[]): Edge[] {
  return path.slice(1).map((to, at) => [path[at], to])
}

function sharesWhereMet([a, b]: Edge, ring: ExactRing): Share[] {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]]
  const shares: Share[] = []
  const closed = [...ring.planar, ring.planar[0]]
  for (const turn of ring.turns)
    for (const [c, d] of edgesOf(closed)) {
      const [cx, cy] = [c[0] + turned(turn) - a[0], c[1] - a[1]]
      const [ex, ey] = [d[0] - c[0], d[1] - c[1]]
      const turnOfBoth = dx * ey - dy * ex
      if (turnOfBoth !== 0n) {
        const share = positive(cx * ey - cy * ex, turnOfBoth)
        const shareOfOther = positive(cx * dy - cy * dx, turnOfBoth)
        if (isBetweenEnds(shareOfOther)) shares.push(share)
      } else if (dx * cy === dy * cx && (dx !== 0n || dy !== 0n)) {
        // On one line: where the ends of the one are on the other.
        const under = dx * dx + dy * dy
        const over = cx * dx + cy * dy
        shares.push({ over, under }, { over: over + ex * dx + ey * dy, under })
      }
    }
  return shares.filter(isBetweenEnds)
}

/** Ends included: an edge may end on another. */
function isBetweenEnds({ over, under }: Share): boolean {
  return over >= 0n && over <= under
}

function turned(turn: number): bigint {
  return BigInt(turn * TURN_UNITS)
}

function positive(over: bigint, under: bigint): Share {
  return under > 0n ? { over, under } : { over: -over, under: -under }
}

function ascending(a: Share, b: Share): number {
  const difference = a.over * b.under - b.over * a.under
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function middleOf(a: Share, b: Share): Share {
  return { over: a.over * b.under + b.over * a.under, under: 2n * a.under * b.under }
}

function placeOn([a, b]: Edge, { over, under }: Share): Scaled {
  return {
    lng: a[0] * under + (b[0] - a[0]) * over,
    lat: a[1] * under + (b[1] - a[1]) * over,
    under,
  }
}

function asScaled([lng, lat]: Exact): Scaled {
  return { lng, lat, under: 1n }
}

function unscaled({ lng, lat, under }: Scaled): Place {
  const quotient = (value: bigint) => Number((value * 1_000_000n) / under) / 1e6
  return { lngUnits: quotient(lng), latUnits: quotient(lat) }
}

/** Whether a turned point is between the longitudes of a ring; otherwise it is outside. */
function isBeside({ lng, under }: Scaled, { west, east }: ExactRing, turn: number): boolean {
  const turnedLng = lng + turned(turn) * under
  return turnedLng >= west * under && turnedLng <= east * under
}

/** Even-odd, in whole numbers, with the point moved by whole turns. */
function placeOf({ lng, lat, under }: Scaled, ring: readonly Exact[], turn: number) {
  const [px, py] = [lng + turned(turn) * under, lat]
  let isInterior = false
  let a = ring[ring.length - 1]
  for (const b of ring) {
    const [ax, ay, bx, by] = [a[0] * under, a[1] * under, b[0] * under, b[1] * under]
    const cross = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    const between = (ax - px) * (bx - px) + (ay - py) * (by - py)
    if (cross === 0n && between <= 0n) return 'boundary'
    if (ay > py !== by > py && cross > 0n === by > ay) isInterior = !isInterior
    a = b
  }
  return isInterior ? 'interior' : 'outside'
}
