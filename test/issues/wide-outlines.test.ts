/**
 * An outline is drawn without vertices in the middle of straight edges. One of more than half a turn was sent back
 * as its way round the other side of the globe: the outline meant the complement of what was asked for.
 *
 * @module
 */
import t from 'tap'
import { answer } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { columnsOf } from '../support/data/columns.js'
import { collection, feature, polygon, response, square } from '../support/random/outlines.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 25, soak: 100 })

const places: { lng: number; lat: number }[] = []
for (let lng = -180; lng <= 180; lng += 2.5) {
  for (let lat = -87.5; lat < 90; lat += 7.25) places.push({ lng, lat })
}
const columns = columnsOf(
  places.map(({ lng, lat }, at) => ({
    lng: Math.round(lng * 1e7),
    lat: Math.round(lat * 1e7),
    phone: `+999${at}`,
    contact: '',
  })),
)
const service = localService([{ id: 1, label: 'A', columns }], 1_000)

async function countOf(geoJSON: unknown): Promise<number> {
  const request = { countsOnly: true, geoJSON } as JsonObject
  const found = await answer(service, request, inTime())
  return JSON.parse(await bodyText(found.json())).SourceRecords[0]?.Count ?? 0
}

t.test('two boxes side by side', async (t) => {
  const request = collection(
    feature(polygon(square(-120, 0, 120, 10))),
    feature(polygon(square(0, 0, 120, 10))),
  )
  const { Outlines: [{ GeoJson, Rings }] = [] } = (await response(request)) as never as {
    Outlines: { GeoJson: object; Rings: object }[]
  }
  const count = await countOf(request.geoJSON)
  t.equal(count, 97)
  t.equal(await countOf(GeoJson), count)
  t.equal(await countOf(Rings), count)
})

t.test('random boxes, wide and with wide holes', async (t) => {
  const random = seededRandom(testSeed(t))
  let wideCount = 0
  for (let round = 0; round < ROUND_COUNT; round++) {
    // Nobody is on these edges, which may be rounded.
    const [south, height] = [random.between(-80, 0) + 0.1, random.between(20, 70)]
    const between = Array.from({ length: 4 }, () => random.between(-169, 169))
    const cuts = [...new Set([-170, 170, ...between])].map((lng) => lng + 0.3).sort((a, b) => a - b)
    const boxes = cuts.slice(1).map((east, i) => square(cuts[i], south, east - cuts[i], height))
    const features = boxes.map((box) => feature(polygon(box)))
    // Three boxes without a gap, which are united to one hole.
    const [west, first, second, last] = [-150.7, -50.7, 40.3, 150.3]
    const holes = [
      [west, first],
      [first, second],
      [second, last],
    ].map(([from, to]) => square(from, south + 5, to - from, height - 10))
    if (random.unit() < 0.5) {
      features.push(...holes.map((hole) => feature(polygon(hole), { exclude: true })))
    }
    const request = collection(...features)
    const { Outlines: [{ GeoJson, Rings }] = [] } = (await response(request)) as never as {
      Outlines: { GeoJson: { coordinates: number[][][][] }; Rings: object }[]
    }
    const count = await countOf(request.geoJSON)
    t.ok(count > 0)
    t.equal(await countOf(GeoJson), count, JSON.stringify(GeoJson))
    t.equal(await countOf(Rings), count, JSON.stringify(Rings))
    const lngs = GeoJson.coordinates.flat(2).map(([lng]) => lng)
    if (Math.max(...lngs) - Math.min(...lngs) > 180) wideCount++
  }
  t.equal(wideCount, ROUND_COUNT)
})
