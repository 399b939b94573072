/**
 * Requests and places in words, for tests of the oracle.
 *
 * @module
 */
import { expectedOf, type OraclePoint } from '../../oracle/request.js'
import type { Verdict } from '../../oracle/verdict.js'

export const feature = (geometry: unknown, properties: unknown = {}) => ({ geometry, properties })
export const request = (...features: unknown[]) => ({ geoJSON: { features } })
export const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
export const line = (text: string) => ({ type: 'LineString', coordinates: positions(text) })
export const polygon = (...rings: string[]) => ({
  type: 'Polygon',
  coordinates: rings.map(positions),
})

/** The ring of a box in words. */
export function box(west: number, south: number, east: number, north: number): string {
  return `${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}`
}

/** `1 2, 3 4` are two positions: longitudes and latitudes in degrees. */
export function positions(text: string): number[][] {
  if (text === '') return []
  return text.split(', ').map((position) => position.split(' ').map(Number))
}

/** Which of the places are surely selected, by their places in the list; nothing is left open. */
export function selected(asked: object, places: string): number[] {
  const verdicts = verdictsOf(asked, places)
  if (verdicts.includes('either')) throw new Error('a verdict is open')
  return [...verdicts.keys()].filter((at) => verdicts[at] === 'inside')
}

/** Of source 7, which has these places and no others. */
export function verdictsOf(asked: object, places: string, ranks?: number[]): readonly Verdict[] {
  const source = { id: 7, points: pointsAt(places, ranks) }
  return expectedOf(asked as Record<string, unknown>, [source]).records[0].verdicts
}

export function pointsAt(places: string, ranks?: number[]): OraclePoint[] {
  return positions(places).map(([lng, lat], at) => ({
    lngUnits: Math.round(lng * 1e7),
    latUnits: Math.round(lat * 1e7),
    contact: at,
    tieRank: ranks?.[at] ?? at,
  }))
}
