/**
 * A map of characters: the more recipients a cell has, the darker its character is.
 *
 * @module
 */
import type { Box } from '../../shard/layout.js'

export interface DensityMap {
  readonly box: Box
  readonly columnCount: number
  readonly rowCount: number
  /** Recipients of each cell, row by row, from the north-west. */
  readonly counts: Uint32Array
}

export function createDensityMap(box: Box, columnCount = 72, rowCount = 24): DensityMap {
  return { box, columnCount, rowCount, counts: new Uint32Array(columnCount * rowCount) }
}

/** The box around all of them; undefined if there are none. */
export function boxAround(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined
  return {
    minLng: Math.min(...boxes.map(({ minLng }) => minLng)),
    minLat: Math.min(...boxes.map(({ minLat }) => minLat)),
    maxLng: Math.max(...boxes.map(({ maxLng }) => maxLng)),
    maxLat: Math.max(...boxes.map(({ maxLat }) => maxLat)),
  }
}

/**
 * Counts recipients, all of them inside the box of the map.
 *
 * @param coords  longitude and latitude of one after the other
 */
export function addToMap(map: DensityMap, coords: Int32Array): void {
  const { box, columnCount, rowCount, counts } = map
  const { minLng, maxLat } = box
  const columnsPerUnit = columnCount / (box.maxLng - minLng + 1)
  const rowsPerUnit = rowCount / (maxLat - box.minLat + 1)
  for (let at = 0; at < coords.length; at += 2) {
    const column = Math.floor((coords[at] - minLng) * columnsPerUnit)
    const row = Math.floor((maxLat - coords[at + 1]) * rowsPerUnit)
    counts[row * columnCount + column]++
  }
}

/** A frame with a character for each cell, and what the characters mean. */
export function drawMap({ columnCount, rowCount, counts }: DensityMap): string[] {
  const max = counts.reduce((most, count) => Math.max(most, count), 0)
  const edge = `+${'-'.repeat(columnCount)}+`
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const cells = counts.subarray(row * columnCount, (row + 1) * columnCount)
    return `|${Array.from(cells, (count) => shadeOf(count, max)).join('')}|`
  })
  return [edge, ...rows, edge, legend(max)]
}

const SHADES = '.:-=+*#%@'

/** Each shade stands for so many times as many as the one before. */
function shadeOf(count: number, max: number): string {
  if (count === 0) return ' '
  let shade = 0
  while (shade + 1 < SHADES.length && count >= leastOf(shade + 1, max)) shade++
  return SHADES[shade]
}

function leastOf(shade: number, max: number): number {
  return Math.max(shade + 1, Math.ceil(max ** (shade / (SHADES.length - 1))))
}

function legend(max: number): string {
  const used = [...SHADES].filter((_, shade) => leastOf(shade, max) <= Math.max(1, max))
  return used.map((character, shade) => `${character} ${leastOf(shade, max)}`).join('   ')
}
