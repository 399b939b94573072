/**
 * A server of ArcGIS cuts an answer off at some thousand features, and says so. Recipients and areas were imported
 * from such a part, and shapes of such a part answered, as if it were the whole.
 */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { columnsOf } from '../support/data/columns.js'
import { drawnSquare } from '../support/data/drawn-square.js'
import { readRows } from '../support/data/read-files.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const cutOff: readonly object[] = [
  { exceededTransferLimit: true },
  { properties: { exceededTransferLimit: true } },
  { metadata: { exceededTransferLimit: true } },
  { links: [{ rel: 'self' }, { rel: 'next', href: '?page=2' }] },
  { pagination: { next: 'https://example.org/alerts?cursor=2' } },
  { NextAfter: 'AAAA' },
]
const whole: readonly object[] = [
  {},
  { exceededTransferLimit: false, properties: null },
  { properties: { name: 'exceededTransferLimit' }, metadata: [], links: {}, pagination: {} },
  { links: [{ rel: 'self' }, null, 'next'], pagination: null },
]
const REFUSED = /says that its server has further features .*import the files of all pages together/

const person = { phone: '+9991', lng: 5_000_000, lat: 5_000_000, contact: '' }
const service: SelectionService = localService([
  { id: 1, label: 'A', columns: columnsOf([person]) },
])

t.test('a request with such a part is answered with a warning', async (t) => {
  const warned = async (said: object) => {
    const geoJSON = {
      ...said,
      features: [{ type: 'Feature', properties: {}, geometry: drawnSquare }],
    }
    const body = Buffer.from(JSON.stringify({ countsOnly: true, geoJSON }))
    return (await answer(service, parseRequest(body), inTime())).warnings ?? []
  }
  for (const said of cutOff) {
    const [{ Code, Path }] = await warned(said)
    t.same([Code, Path], ['FurtherFeatures', 'geoJSON'], JSON.stringify(said))
  }
  for (const said of whole) t.same(await warned(said), [], JSON.stringify(said))
})

t.test('recipients are not imported of a part, and are of all pages', async (t) => {
  const geometry = { type: 'Point', coordinates: [0.5, 0.5] }
  const page = (said: object, number: string) =>
    collection(said, { type: 'Feature', properties: { number }, geometry })
  const imported = byTier({ ci: cutOff.slice(0, 1), soak: cutOff })
  for (const said of cutOff) {
    const paths = inFiles(t, page(said, '+9991'), page(said, '+9992'), page({}, '+9993'))
    const refused = { code: 'InputRejected', message: REFUSED }
    await t.rejects(readRows(paths.slice(0, 1)), refused, JSON.stringify(said))
    if (!imported.includes(said)) continue
    t.same((await readRows(paths)).phones, ['+9991', '+9992', '+9993'])
    await t.rejects(readRows(paths.slice(0, 2)), refused)
    const [csv] = inFiles(t, 'number,lat,lng\n+9994,1,2\n')
    await t.rejects(
      readRows([...paths.slice(0, 1), csv]),
      refused,
      'rows of another kind are no page',
    )
    const [empty] = inFiles(t, collection(said))
    t.same((await readRows([...paths.slice(0, 1), empty])).phones, ['+9991'])
  }
  for (const said of whole) {
    t.same((await readRows(inFiles(t, page(said, '+9991')))).phones, ['+9991'])
  }
})

t.test('nor are areas', async (t) => {
  const page = (said: object, key: string) =>
    collection(said, { type: 'Feature', properties: { key }, geometry: drawnSquare })
  const paths = inFiles(t, page(cutOff[0], 'first'), page({}, 'last'))
  const data = dirname(paths[0])
  const dryRun = (...files: string[]) =>
    hickoryHere(
      ...['areas', 'import', '--data', data, '--layer', 'a', '--key', 'key', '--dry-run'],
      ...files,
    )
  t.match(await dryRun(paths[0]), { code: 5, stderr: REFUSED })
  t.match(await dryRun(...paths), { code: 0, stdout: /2 areas of 2 features/ })
  const [empty] = inFiles(t, collection({}))
  t.match(await dryRun(paths[0], empty), { code: 0, stdout: /1 areas of 1 features/ })
})

/** Servers say it behind the features as well. */
function collection(said: object, ...features: object[]): string {
  return JSON.stringify({ type: 'FeatureCollection', features, ...said })
}

function inFiles(t: Test, ...texts: string[]): string[] {
  const directory = temporaryDirectory(t)
  return texts.map((text, index) => {
    const path = join(directory, `page-${index + 1}`)
    writeFileSync(path, text)
    return path
  })
}
