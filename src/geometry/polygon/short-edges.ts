/**
 * Rings of which no edge can be taken for its way round the other side of the globe.
 *
 * @module
 */
import { HALF_TURN } from '../units.js'

/**
 * Cuts edges of more than half a turn in two, since whoever reads them takes the short way. An edge from one side of
 * the antimeridian to the other is taken as it is.
 *
 * @param ring  within ±180, in whole units; not closed
 */
export function withShortEdges(ring: readonly number[]): readonly number[] {
  const cut: number[] = []
  for (let i = 0; i < ring.length; i += 2) {
    const [lng, lat] = [ring[i], ring[i + 1]]
    const next = (i + 2) % ring.length
    const width = Math.abs(ring[next] - lng)
    cut.push(lng, lat)
    if (width > HALF_TURN && width < 2 * HALF_TURN) {
      cut.push(Math.round((lng + ring[next]) / 2), Math.round((lat + ring[next + 1]) / 2))
    }
  }
  return cut.length === ring.length ? ring : cut
}
