import { join } from 'node:path'
import t from 'tap'
import { askService, checkCounties, readRows } from '../oracle/counties.js'
import { hasShrunkenRings, loadCounties } from '../support/data/counties.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'

t.test('counts and lists of counties equal brute force over the CSV', async (t) => {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  const csvs: string[] = []
  for (const [id, label] of [
    ['1', 'Mobile'],
    ['22', 'Landline'],
  ]) {
    const csv = join(directory, `${id}.csv`)
    const made = await hickory(
      ...['generate', '--recipients', '20000', '--seed', id, '--countries', 'US', '--out', csv],
    )
    t.equal(made.code, 0, made.stderr)
    const imported = await hickory(
      ...['import', '--data', data, '--source', id, '--label', label, csv],
    )
    t.equal(imported.code, 0, imported.stderr)
    t.match(imported.stdout, /rows read +20000\naccepted +20000\nrejected +0\n/)
    csvs.push(`${id}=${csv}`)
  }
  const { url } = await serve(t, '--data', data)
  const { countyCount, recipientCount, mismatches } = await checkCounties({
    rows: await readRows(csvs),
    ask: askService(url),
    counties: loadCounties().filter(
      ({ geometry }, index) => index % 8 === 0 || hasShrunkenRings(geometry),
    ),
    list: true,
  })
  t.same(mismatches, [])
  t.ok(countyCount > 400)
  t.ok(recipientCount > 1_000, `${recipientCount} recipients compared`)
})
