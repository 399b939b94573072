/**
 * Recipients on a grid, whose number within any square at its corner is known.
 *
 * @module
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { hickoryHere } from '../service/command-line.js'
import { temporaryDirectory } from '../service/hickory.js'
import { madeOnce } from './made-once.js'

/** Recipients along a side: over ten degrees, one in each tenth of a degree, in its middle. */
const SIDE = 100

/** In degrees, by their rows from the south. */
export function gridPlaces(rowCount = SIDE) {
  return Array.from({ length: SIDE * rowCount }, (_, at) => {
    const [lat, lng] = [Math.floor(at / SIDE), at % SIDE].map((place) => 0.05 + place / 10)
    return { lng, lat, phone: `+999${String(at).padStart(7, '0')}` }
  })
}

/** Makes the grid source 1 of a data directory, or its first rows from the south. */
export async function importGrid(t: Test, data: string, rowCount = SIDE): Promise<void> {
  const rows = gridPlaces(rowCount).map(({ lng, lat, phone }) => {
    return `${phone},${lat.toFixed(2)},${lng.toFixed(2)}`
  })
  const importInto = async (directory: string) => {
    const file = join(temporaryDirectory(t), 'people.csv')
    writeFileSync(file, `number,lat,lng\n${rows.join('\n')}\n`)
    const source = ['--source', '1', '--label', 'A', '--max-shrink', '100%']
    const { code, stderr } = await hickoryHere('import', '--data', directory, ...source, file)
    if (code !== 0) throw new Error(`import ended with ${code}: ${stderr}`)
  }
  const isFirst = readdirSync(data).length === 0
  await (isFirst ? madeOnce(`grid-${rowCount}`, data, importInto) : importInto(data))
}
