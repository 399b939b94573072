import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { RecipientCollector } from '../../../src/sources/columns/collector.js'
import { readFiles } from '../../../src/sources/files/read-files.js'
import { syntheticColumns } from '../../../src/sources/synthetic/synthetic-columns.js'

const cli = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))

for (const { recipientCount, seed, countries } of [
  { recipientCount: 0, seed: 1, countries: ['US'] },
  { recipientCount: 1, seed: 2, countries: ['US'] },
  { recipientCount: 16_385, seed: 4_294_967_295, countries: ['US', 'CA'] },
  { recipientCount: 50_000, seed: 7, countries: undefined },
])
  t.test(`columns are what the generated file holds, ${recipientCount} recipients`, async (t) => {
    const path = join(t.testdir(), 'recipients.csv')
    const codes = countries === undefined ? [] : ['--countries', countries.join(',')]
    const flags = [`--recipients=${recipientCount}`, `--seed=${seed}`, `--out=${path}`, ...codes]
    execFileSync(process.execPath, [cli, 'generate', ...flags], { stdio: 'pipe' })
    const collector = new RecipientCollector()
    await readFiles({ patterns: [path], columns: {}, spoolDirectory: t.testdirName }, collector)
    const expected = await collector.finish()

    const made: number[] = []
    const columns = syntheticColumns({ recipientCount, seed, countries }, (doneCount) => {
      made.push(doneCount)
    })
    // Large arrays are not shown when they differ: phones do not belong in a report.
    t.equal(columns.recipientCount, expected.recipientCount)
    t.equal(columns.contactCount, expected.contactCount)
    for (const name of ['lngs', 'lats', 'contacts', 'phoneOffsets', 'phones'] as const)
      t.ok(Buffer.from(viewOf(columns[name])).equals(viewOf(expected[name])), name)
    t.equal(made.at(-1) ?? 0, recipientCount)
    t.same(
      made,
      made.toSorted((a, b) => a - b),
    )
  })

t.test('a country without a city is refused', async (t) => {
  const options = { recipientCount: 1, seed: 1, countries: ['XX'] }
  t.throws(() => syntheticColumns(options), { code: 'Usage', message: /"XX"/ })
})

function viewOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
