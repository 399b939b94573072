/**
 * Each county of the United States by its FIPS code, its SAME code, its UGC and its polygon: the same people.
 *
 * @module
 */
import t from 'tap'
import { openGazetteer } from '../../src/gazetteer/gazetteer.js'
import { makeDefaultAreas } from '../../src/gazetteer/make-default.js'
import { answer } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { syntheticColumns } from '../../src/sources/synthetic/synthetic-columns.js'
import { loadCounties, withoutDegenerateRings } from '../support/data/counties.js'
import { bodyText } from '../support/service/body-text.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'
import { localImages, serviceOf } from '../support/service/local-service.js'

/** One county of the atlas has an area of nothing, and is none of the gazetteer's. */
const COUNTY_COUNT = 3_230

t.test('counties by FIPS, SAME, UGC and polygon select the same people', async (t) => {
  const directory = temporaryDirectory(t)
  await makeDefaultAreas(directory)
  const gazetteer = openGazetteer(directory)
  if (gazetteer === undefined) throw new Error('the default gazetteer was not made')
  t.teardown(() => gazetteer.close())
  const columns = syntheticColumns({ recipientCount: 300_000, seed: 22, countries: ['US'] })
  const sources = [{ id: 1, label: 'A', columns }]
  const images = localImages(sources, 20_000)
  const service = serviceOf('000001-00000000', sources, images, undefined, undefined, {
    areas: () => gazetteer,
    suppressionVersion: () => 0,
  })
  const count = async (request: JsonObject): Promise<number> => {
    const { json } = await whole(request)
    return JSON.parse(await bodyText(json())).SourceRecords[0].Count
  }
  const whole = async (request: JsonObject) => {
    const found = await answer(service, { countsOnly: true, ...request }, inTime())
    return { json: () => found.json() }
  }
  const wrong: string[] = []
  let countyCount = 0
  let peopleCount = 0
  for (const { id, geometry } of loadCounties()) {
    const area = gazetteer.find(`counties:${id}`)
    const coordinates = withoutDegenerateRings(geometry)?.coordinates
    if (area === undefined || coordinates === undefined) {
      t.equal(area, undefined, `${id} is no area, drawn or named`)
      continue
    }
    countyCount++
    const ugc = area.aliases.find((alias) => alias.startsWith('UGC:')) ?? 'none'
    const polygons = coordinates.map((rings) => rings.map((ring) => ring.map(rounded)))
    const counts = [
      await count({ geoJSON: { type: 'MultiPolygon', coordinates: polygons } }),
      await count({ areas: [`counties:${id}`] }),
      await count({ areas: [`counties:${id}`] }),
      await count({ areas: `SAME:0${id}` }),
      await count({ areas: [ugc] }),
      await count({ geoJSON: { geometry: null, properties: { area: `FIPS:${id}` } } }),
    ]
    peopleCount += counts[0]
    if (counts.some((each) => each !== counts[0])) wrong.push(`${id}: ${counts}`)
  }
  t.same(wrong, [])
  t.equal(countyCount, COUNTY_COUNT)
  t.ok(peopleCount > 250_000, `${peopleCount} people are in counties`)
})

/** As the default gazetteer has them: seven decimals. */
function rounded(position: readonly number[]): number[] {
  return position.map((degrees) => Math.round(degrees * 1e7) / 1e7)
}
