import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { readBbox } from '../../src/notations/bbox.js'
import { readGeohash } from '../../src/notations/geohash.js'
import { readH3 } from '../../src/notations/h3.js'
import { readMgrs } from '../../src/notations/mgrs.js'
import { readPolyline } from '../../src/notations/polyline.js'
import { metresOf } from '../../src/notations/units.js'
import { readUtm } from '../../src/notations/utm.js'
import { readWkb } from '../../src/notations/wkb.js'
import { readWkt } from '../../src/notations/wkt.js'

const page = readFileSync(
  fileURLToPath(new URL('../../../docs/api/notations.md', import.meta.url)),
  'utf8',
)

const readers = new Map(
  Object.entries({
    wkt: readWkt,
    wkb: readWkb,
    bbox: readBbox,
    h3: readH3,
    geohash: readGeohash,
    polyline: readPolyline,
    utm: readUtm,
    mgrs: readMgrs,
  }),
)

t.test('the examples of docs/api/notations.md are read, one of each notation', async (t) => {
  const seen = new Set<string>()
  for (const [, text] of page.matchAll(/```json\n(.*?)```/gs)) {
    const request = JSON.parse(text)
    const holder = request.geoJSON?.geometry ?? request
    const [[name, value]] = Object.entries(holder)
    t.ok(readers.get(name)?.(value, name), text)
    seen.add(name)
  }
  t.same([...seen].sort(), [...readers.keys()].sort())
})

t.test('docs/api/notations.md has the bounds and the units of the code', async (t) => {
  t.match(page, `at most ${limits.cellCount.toLocaleString('en-US')} elements`)
  t.match(page, `more than ${limits.collectionDepthCount} deep`)
  t.match(page, `reach the bound of ${limits.vertexCount.toLocaleString('en-US')}.`)
  const rows = [...page.matchAll(/^\| (`.*`) \| ([\d.,]+) \|$/gm)]
  t.equal(rows.length, 5)
  for (const [, names, metres] of rows) {
    for (const [, name] of names.matchAll(/`([^`]+)`/g)) {
      t.equal(metresOf(1, name), Number(metres.replaceAll(',', '')), name)
    }
  }
})
