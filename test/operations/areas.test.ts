/**
 * What is answered of areas, and what is refused.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { Answer } from '../../src/format/answer.js'
import { limits } from '../../src/limits.js'
import { areaOperations } from '../../src/operations/areas.js'
import { validate } from '../../src/selection/validate.js'
import { layerOf, squareArea, writtenGazetteer } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'

async function operations(t: Test) {
  const hole = [
    [179.25, 0.25],
    [-179.75, 0.25],
    [-179.75, 0.75],
    [179.25, 0.75],
  ]
  const shell = [
    [179, 0],
    [-179, 0],
    [-179, 1],
    [179, 1],
  ]
  const over = { geometry: { type: 'Polygon', coordinates: [shell, hole] }, aliases: ['SAME:1'] }
  const gazetteer = await writtenGazetteer(
    t,
    temporaryDirectory(t),
    { ...layerOf('zones', squareArea('a', 0, 0), squareArea('over', 0, 0, over)), source: 'us' },
    layerOf('towns', squareArea('b', 0.5, 0.5)),
  )
  const { GetAreasRequest, GetAreaRequest } = areaOperations(() => gazetteer)
  const list = async (request: object) =>
    (await GetAreasRequest({ ...request }, inTime())) as Answer
  const area = async (Name: string) => (await GetAreaRequest({ Name }, inTime())) as Answer
  return { gazetteer, list, area }
}

const read = (body: unknown) => JSON.parse(Buffer.from(body as Uint8Array).toString())

t.test('lists have a page, how to go on, and the layers', async (t) => {
  const { gazetteer, list } = await operations(t)
  const answer = await list({ limit: 2 })
  t.same(read(answer.json()), {
    Version: gazetteer.version,
    Results: [
      { Id: 'zones:a', Layer: 'zones', Key: 'a', Name: 'Square a', Aliases: [] },
      { Id: 'towns:b', Layer: 'towns', Key: 'b', Name: 'Square b', Aliases: [] },
    ],
    NextAfter: 'towns:b',
    Layers: [
      { Layer: 'towns', AreaCount: 1 },
      { Layer: 'zones', AreaCount: 2, Source: 'us' },
    ],
  })
  t.same(answer.headers, {
    ETag: `W/"${gazetteer.version}"`,
    'Cache-Control': 'no-cache',
    'X-Next-After': 'towns:b',
  })
  const rest = await list({ limit: 2, after: 'towns:b' })
  t.equal(
    rest.csv('flat'),
    'Id,Layer,Key,Name,Aliases\r\nzones:over,zones,over,Square over,"[""SAME:1""]"\r\n',
  )
  const idsOf = async (request: object) =>
    read((await list(request)).json()).Results.map(({ Id }: { Id: string }) => Id)
  t.same(await idsOf({ at: '0.75,0.75' }), ['zones:a', 'towns:b'])
  t.same(await idsOf({ at: '1,1', layer: 'TOWNS' }), ['towns:b'])
  t.same(await idsOf({ at: '180,0', q: 'OVER' }), ['zones:over'])
  t.same(await idsOf({ at: '-180.0,1' }), ['zones:over'])
  t.same(await idsOf({ at: '180,0.5' }), [], 'in the hole')
  t.same(await idsOf({ at: '-540.5,0.1' }), ['zones:over'], 'whole turns do not matter')
})

t.test('an area is a Feature that selects the same', async (t) => {
  const { gazetteer, area } = await operations(t)
  const answer = await area('same:1')
  const feature = read(answer.json())
  t.match(feature, {
    type: 'Feature',
    id: 'zones:over',
    bbox: [179, 0, -179, 1],
    geometry: { type: 'MultiPolygon' },
    properties: { Id: 'zones:over', Layer: 'zones', Key: 'over', Aliases: ['SAME:1'] },
  })
  t.equal(feature.geometry.coordinates.length, 2, 'cut at the antimeridian')
  t.same(answer.headers, { ETag: `W/"${gazetteer.version}"`, 'Cache-Control': 'no-cache' })
  const { bbox: _, ...inCollection } = feature
  const collection = { type: 'FeatureCollection', features: [inCollection] }
  t.same(JSON.parse(String(answer.geoJson?.())), collection)
  // Without the properties, of which a request would be told.
  const { shapes } = validate({ geoJSON: feature.geometry })
  t.equal(shapes.included[0].polygons.bounds.length / 4 >= 2, true)
  t.match(String(answer.csv('flat')), /^type,id,bbox,geometry,properties\r\nFeature,zones:over,/)
})

t.test('what cannot be understood is refused', async (t) => {
  const { list, area } = await operations(t)
  const refused = (asked: Promise<Answer>, code: string, field: string, message: RegExp) =>
    t.rejects(asked, { code, field, message })
  await refused(area('zones:A'), 'UnknownArea', 'Name', /; near it are zones:a$/)
  await refused(area('nothing at all'), 'UnknownArea', 'Name', /GET \/api\/areas finds areas/)
  await refused(list({ layer: 'zone' }), 'InvalidRequest', 'layer', /: towns, zones$/)
  for (const at of ['', '1', '1,2,3', '1 2', 'a,b', '1e3,1', '1;2', '0x1,1']) {
    await refused(list({ at }), 'InvalidRequest', 'at', /^at must be longitude and latitude/)
  }
  await refused(list({ at: '29.76,-95.37' }), 'LatitudeOutOfRange', 'at', /behind the longitude$/)
  await refused(list({ after: 'zones:gone' }), 'InvalidRequest', 'after', /begin again/)
  for (const limit of [0, limits.areaPageCount + 1]) {
    await refused(list({ limit }), 'InvalidRequest', 'limit', /from 1 to 1,000$/)
  }
  t.ok(await list({ limit: limits.areaPageCount }))
  t.ok(await list({ q: 'q'.repeat(limits.areaQueryCharCount) }))
  const long = list({ q: 'q'.repeat(limits.areaQueryCharCount + 1) })
  await refused(long, 'InvalidRequest', 'q', /at most 200 characters$/)
  const { GetAreasRequest } = areaOperations(() => undefined)
  await t.rejects(GetAreasRequest({}, inTime()), { code: 'Unavailable' })
})
