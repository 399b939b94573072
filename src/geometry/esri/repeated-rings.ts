/**
 * Rings that are given more than once.
 *
 * @module
 */
import { lngRange, type UnitRing } from '../polygon/antimeridian.js'

/** The rings without those that repeat an earlier one: from any vertex on, in any direction. */
export function withoutRepeats(rings: readonly UnitRing[]): UnitRing[] {
  const isRepeat = rings.map(() => false)
  for (const alike of grouped([...rings.keys()], (i) => outline(rings[i]))) {
    if (alike.length === 1) continue
    for (const [, ...repeats] of grouped(alike, (i) => canonical(rings[i]))) {
      for (const i of repeats) isRepeat[i] = true
    }
  }
  return rings.filter((_, i) => !isRepeat[i])
}

function grouped(items: readonly number[], key: (item: number) => string): number[][] {
  const groups = new Map<string, number[]>()
  for (const item of items) {
    const name = key(item)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

/** A key that repeated rings have in common, and most other rings have not. */
function outline(ring: UnitRing): string {
  const { min, max } = lngRange(ring)
  let lowest = ring[1]
  for (let i = 3; i < ring.length; i += 2) if (ring[i] < lowest) lowest = ring[i]
  return `${ring.length} ${min} ${max} ${lowest}`
}

/** Of all spellings of a ring the least. */
function canonical(ring: UnitRing): string {
  const reversed: number[] = []
  for (let i = ring.length - 2; i >= 0; i -= 2) reversed.push(ring[i], ring[i + 1])
  const [forwards, backwards] = [ring, reversed].map((way) => {
    const start = leastStart(way)
    return [...way.slice(start), ...way.slice(0, start)].join()
  })
  return forwards < backwards ? forwards : backwards
}

/**
 * Where the least rotation of a ring begins: of two starts that agree so far, the one that turns
 * out greater is given up together with all that it has passed. Takes time linear in the vertices.
 */
function leastStart(ring: UnitRing): number {
  const end = ring.length
  let start = 0
  let rival = 2
  let agreed = 0
  while (start < end && rival < end && agreed < end) {
    const a = (start + agreed) % end
    const b = (rival + agreed) % end
    // The sign of a difference of two doubles is exact, and it is 0 only of equal ones.
    const difference = ring[a] - ring[b] || ring[a + 1] - ring[b + 1]
    if (difference === 0) {
      agreed += 2
      continue
    }
    if (difference > 0) start += agreed + 2
    else rival += agreed + 2
    if (start === rival) rival += 2
    agreed = 0
  }
  return Math.min(start, rival)
}
