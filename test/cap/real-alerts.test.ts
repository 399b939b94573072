/**
 * Alerts that others published, made anew from their facts: each is drawn as a reading in Python made of the
 * original, or is refused for the same reason. test/cap/real/alerts.jsonl says where each came from, and
 * test/cap/real/read-alerts.py how it was read.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { drawingOfAlert } from '../../src/cap/drawing.js'
import { ServiceError } from '../../src/errors.js'
import { digestOf, linesOf } from './canonical.js'
import { type Facts, writeAlert } from './writer.js'

type Outcome = readonly [
  polygonCount: number,
  circleCount: number,
  geocodeCount: number,
  digest: string,
]
type Row = readonly [
  source: string,
  version: string,
  members: readonly Facts[],
  outcome: Outcome | string,
]

const table = fileURLToPath(new URL('../../../test/cap/real/alerts.jsonl', import.meta.url))
const rows = readFileSync(table, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Row)

t.test('each alert is drawn, or refused, as another reading says', async (t) => {
  t.ok(rows.length >= 200, `${rows.length} alerts`)
  const repositories = new Set(rows.map(([source]) => source.split(' ')[0]))
  t.ok(repositories.size >= 10, `of ${repositories.size} repositories`)
  let refusedCount = 0
  for (const [source, version, members, outcome] of rows) {
    const found = outcomeOf(writeAlert(version, members))
    if (typeof outcome === 'string') refusedCount++
    t.same(found, outcome, source)
  }
  t.comment(`${rows.length - refusedCount} drawn, ${refusedCount} refused`)
})

function outcomeOf(text: string): Outcome | string {
  try {
    const { drawing } = drawingOfAlert(readAlert(text, 'cap'), { nowMs: 0 })
    const lines = linesOf(drawing)
    const count = (kind: string) => lines.filter((line) => line.startsWith(kind)).length
    return [count('P'), count('C'), count('G'), digestOf(lines)]
  } catch (fault) {
    if (fault instanceof ServiceError) return fault.code
    throw fault
  }
}
