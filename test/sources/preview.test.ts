import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { previewFiles } from '../../src/sources/preview.js'

t.test('a preview has the first rows as they are read, and a report on all', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'a.csv')
  const lines = [
    'Tel;Y;X;Person',
    'x;91;2;',
    '+9991;1,5;2;',
    '+9991;-1.5;2;p',
    '+9992;0.00000005;-180;',
  ]
  writeFileSync(path, [...lines, '+9993;1;1;'].join('\n'))
  const input = { patterns: [path], columns: {}, spoolDirectory: directory }
  const preview = await previewFiles(input, 2)
  t.same(preview.columns, { number: 'Tel', lat: 'Y', lng: 'X', contact: 'Person', key: undefined })
  t.same(preview.rows, [
    { phone: '+9991', lat: '-1.5000000', lng: '2.0000000', contact: 'p' },
    { phone: '+9992', lat: '0.0000001', lng: '-180.0000000', contact: '' },
  ])
  t.match(preview.report, { rowCount: 5, acceptedCount: 3, rejectedCount: 2 })
})

t.test('the positions of GeoJSON are in no column', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'a.geojson')
  writeFileSync(
    path,
    '{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"tel":"+9991"}}',
  )
  const input = { patterns: [path], columns: {}, spoolDirectory: directory }
  const { columns, rows } = await previewFiles(input, 5)
  t.match(columns, { number: 'tel', lat: undefined, lng: undefined })
  t.match(rows, [{ lat: '1.0000000', lng: '2.0000000' }])
  const wrong = previewFiles({ ...input, columns: { lat: 'x' } }, 5)
  await t.rejects(wrong, { code: 'Usage', message: /--lat/ })
})
