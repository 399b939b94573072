import t from 'tap'
import { figureOf } from '../../../loadtest/harness/results.js'
import { formatTable } from '../../../loadtest/harness/table.js'
import { plotScale } from '../../../loadtest/imports/plot.js'
import {
  IMPORT_RESULTS_FORMAT,
  parseImportResults,
  type SizeResult,
  summarizeImport,
} from '../../../loadtest/imports/results.js'
import { assertRoom } from '../../../loadtest/imports/room.js'
import { scaleTable, sizeTable } from '../../../loadtest/imports/tables.js'

const csv = summarizeImport('csv', 420_000_000, [
  { wallMs: 9_000, peakBytes: 900e6, scanMs: 3_000 },
  { wallMs: 8_000, peakBytes: 950e6, scanMs: 2_000 },
  { wallMs: 10_000, peakBytes: 910e6, scanMs: 2_500 },
])

function size(recipientCount: number, factor: number): SizeResult {
  return {
    recipientCount,
    scanMs: figureOf([3_000, 2_000, 2_500]),
    imports: [
      csv,
      summarizeImport('postgres', undefined, [{ wallMs: 20_000, peakBytes: 5e8, scanMs: 4_000 }]),
    ],
    snapshotBytes: 330e6,
    startMs: figureOf([1_500 * factor]),
    residentBytes: figureOf([600e6 * factor]),
    drawnMicros: 11.5 * factor,
    countyMicros: 17.4,
  }
}

t.test('an import is compared with the scan of its own round', async (t) => {
  t.match(csv.toScan, { median: 4, min: 3, max: 4 })
  t.match(csv.wallMs, { median: 9_000, min: 8_000, max: 10_000 })
  t.equal(csv.peakBytes.max, 950e6)
})

t.test('the table has the scan, then each format with its rate and its ratio', async (t) => {
  const { header, rows } = sizeTable(size(10_000_000, 1))
  t.ok(rows.every((row) => row.length === header.length))
  t.same(rows[0], ['scan of csv', '420', '2.50', '2.00–3.00', '4,000,000', '1', '–', '–'])
  t.same(rows[1].slice(0, 6), ['import of csv', '420', '9.00', '8.00–10.0', '1,111,111', '4.00'])
  t.same(rows[1].slice(6), ['3.00–4.00', '950'])
  t.same(rows[2].slice(0, 2), ['import of postgres', '–'], 'a table has no size')
})

t.test('the table of growth has a row for each number of recipients', async (t) => {
  const table = scaleTable([size(1_000_000, 1), size(10_000_000, 2)])
  t.same(table.rows[1], [
    '10,000,000',
    ...['2.50', '9.00', '4.00', '950', '330', '3.00', '1,200', '23.0', '17.4'],
  ])
  t.match(formatTable(table), /recipients +scan s/)
})

t.test('the plot has every figure of every size, within the image, and is no markup', async (t) => {
  const svg = plotScale([size(1_000_000, 1), size(100_000_000, 10)], 'a <machine> & more')
  t.match(svg, /^<svg .* viewBox="0 0 680 464"/)
  for (const value of ['1 M', '100 M', '1.50', '15.0', '0.600', '6.00', '11.5', '115', '9.00']) {
    t.match(svg, `>${value}</text>`, value)
  }
  t.match(svg, 'a &lt;machine> &amp; more')
  for (const [, x, y] of svg.matchAll(/cx="([0-9.-]+)" cy="([0-9.-]+)"/g)) {
    t.ok(Number(x) >= 0 && Number(x) <= 340 && Number(y) >= 0 && Number(y) <= 220, `${x} ${y}`)
  }
  t.notMatch(svg, /NaN|undefined/)
})

t.test('one size alone is not drawn', async (t) => {
  t.throws(() => plotScale([size(1_000_000, 1)], 'm'), /--scale/)
})

t.test('a file that is no result of this benchmark is refused by name', async (t) => {
  const results = { format: IMPORT_RESULTS_FORMAT, sizes: [] }
  t.same(parseImportResults(JSON.stringify(results), 'a.json'), results)
  t.throws(
    () => parseImportResults('{"format": "hickory-loadtest-1"}', 'b.json'),
    /b\.json is not a result of npm run bench:import/,
  )
})

t.test('what does not fit on the disk or into memory is refused before it begins', async (t) => {
  const GiB = 2 ** 30
  const plenty = { diskBytes: 100 * GiB, memoryBytes: 100 * GiB }
  assertRoom(10_000_000, ['csv', 'postgres'], plenty)
  const refused = (room: Partial<typeof plenty>) => () =>
    assertRoom(10_000_000, ['csv'], { ...plenty, ...room })
  t.throws(refused({ diskBytes: GiB }), /10,000,000 .* GiB of disk, and 1\.00 GiB are free/)
  t.throws(refused({ memoryBytes: 2 * GiB }), /GiB of memory, and 2\.00 GiB are free/)
})
