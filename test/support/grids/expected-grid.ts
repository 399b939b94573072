/**
 * Grids by brute force: each recipient by itself, by h3 or by the formula of web Mercator.
 *
 * @module
 */
import { latLngToCell } from 'h3-js'
import type { Random } from '../random/world.js'

/** Whole units of 1e-7 degree. */
export interface Place {
  readonly lng: number
  readonly lat: number
}

export type GridMembers =
  | { readonly h3Resolution: number }
  | { readonly tile: string; readonly cellsPerSide: number }

/** How many are in each cell, by its name; whoever is beyond the tile is in none. */
export function expectedCells(
  places: readonly Place[],
  members: GridMembers,
): Record<string, number> {
  const counts = new Map<string, number>()
  for (const place of places) {
    const cell = 'tile' in members ? tileOf(place, members) : hexagonOf(place, members.h3Resolution)
    if (cell !== undefined) counts.set(cell, (counts.get(cell) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].sort(([left], [right]) => (left < right ? -1 : 1)))
}

function hexagonOf({ lng, lat }: Place, resolution: number): string {
  return latLngToCell(lat / 1e7, lng / 1e7, resolution)
}

/** As tiles are numbered: x from the west, y from the north, both rounded down. */
function tileOf(
  { lng, lat }: Place,
  { tile, cellsPerSide }: Extract<GridMembers, { tile: string }>,
): string | undefined {
  const [zoom, x, y] = tile.split('/').map(Number)
  const tileCount = cellsPerSide * 2 ** zoom
  const radians = ((lat / 1e7) * Math.PI) / 180
  const turn = ((lng + 1_800_000_000) % 3_600_000_000) / 3_600_000_000
  const column = Math.floor(turn * tileCount)
  const row = Math.floor(((1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2) * tileCount)
  const isInside = Math.floor(column / cellsPerSide) === x && Math.floor(row / cellsPerSide) === y
  return isInside ? `${zoom + Math.log2(cellsPerSide)}/${column}/${row}` : undefined
}

/** A tile around a place, or beside it. */
export function randomTile({ lng, lat }: Place, random: Random): GridMembers {
  const zoom = random.between(0, 17)
  const cellsPerSide = 2 ** random.between(0, 8)
  const [, x, y] = (tileOf({ lng, lat }, { tile: '0/0/0', cellsPerSide: 2 ** zoom }) ?? '0/0/0')
    .split('/')
    .map(Number)
  const beside = random.unit() < 0.2 ? random.between(-1, 1) : 0
  const column = Math.min(2 ** zoom - 1, Math.max(0, x + beside))
  return { tile: `${zoom}/${column}/${y}`, cellsPerSide }
}

export function randomGrid(place: Place, random: Random): GridMembers {
  if (random.unit() < 0.5) return randomTile(place, random)
  return { h3Resolution: random.between(0, 15) }
}
