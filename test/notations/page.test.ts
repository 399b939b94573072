import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cellToBoundary, latLngToCell } from 'h3-js'
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
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

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

t.test(
  'docs/api/notations.md tells how far edges of H3 are off, and not much too far',
  async (t) => {
    const random = seededRandom(testSeed(t))
    const rows = [...page.matchAll(/^\| (\d) \| ([\d.]+) m \| ([\d.]+) m \|$/gm)]
    t.equal(rows.length, 6)
    for (const [, resolution, upTo60, upTo75] of rows) {
      const farthest = [0, 0]
      for (let round = 0; round < byTier({ ci: 2_000, soak: 5_000 }); round++) {
        const lat = 150 * random.unit() - 75
        const cell = latLngToCell(lat, 360 * random.unit() - 180, Number(resolution))
        const ring = cellToBoundary(cell, true)
        for (const [index, to] of ring.slice(1).entries()) {
          const from = ring[index]
          const latMax = Math.max(Math.abs(from[1]), Math.abs(to[1]))
          if (latMax > 75) continue
          const metres = offMetres(from, to)
          farthest[1] = Math.max(farthest[1], metres)
          if (latMax <= 60) farthest[0] = Math.max(farthest[0], metres)
        }
      }
      for (const [index, told] of [Number(upTo60), Number(upTo75)].entries()) {
        const found = farthest[index]
        t.ok(found <= told && found > told / 2, `resolution ${resolution}: ${found} of ${told} m`)
      }
    }
  },
)

/** From the middle of a straight edge to the great circle through its ends. */
function offMetres(from: readonly number[], to: readonly number[]): number {
  const lng = to[0] - 360 * Math.round((to[0] - from[0]) / 360)
  const [a, b, middle] = [
    [from[0], from[1]],
    [lng, to[1]],
    [(from[0] + lng) / 2, (from[1] + to[1]) / 2],
  ].map(([x, y]) => {
    const [east, north] = [(x * Math.PI) / 180, (y * Math.PI) / 180]
    return [
      Math.cos(north) * Math.cos(east),
      Math.cos(north) * Math.sin(east),
      Math.sin(north),
    ] as const
  })
  const normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
  const across = normal[0] * middle[0] + normal[1] * middle[1] + normal[2] * middle[2]
  return Math.abs(Math.asin(across / Math.hypot(...normal))) * 6_371_000
}
