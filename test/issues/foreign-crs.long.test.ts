/**
 * Recipients of GeoJSON in another coordinate system were taken as degrees of WGS 84, up to half a
 * kilometre off: the member `crs` was ignored, which requests and areas are refused for. Of a position that
 * was there twice, the first counted, where requests take the last.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readRows, rejectedLines } from '../support/data/read-files.js'

const point = { type: 'Point', coordinates: [-121.5, 38.5] }
const feature = (number: string, further = {}, geometry: object = point) => ({
  ...{ type: 'Feature', ...further, geometry, properties: { number } },
})
const named = (name: string) => ({ crs: { type: 'name', properties: { name } } })
const collection = (before: object, after: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...before, features: [feature('+9991')], ...after })

for (const name of ['EPSG:4267', 'urn:ogc:def:crs:EPSG::4277', 'EPSG:3857', 'nonsense']) {
  t.test(`a collection in ${name} is refused, and the message names it`, async (t) => {
    const refused = {
      code: 'InputRejected',
      message: new RegExp(`has coordinates in "${name}", as its "crs" says, .*-t_srs EPSG:4326`),
    }
    await t.rejects(read(t, collection(named(name))), refused)
    await t.rejects(read(t, collection({}, named(name))), refused)
  })

  t.test(`a feature or a point in ${name} is rejected`, async (t) => {
    const features = [
      feature('+9991'),
      feature('+9992', named(name)),
      feature('+9993', {}, { ...point, ...named(name) }),
      feature('+9994', {}, { ...named(name), ...point }),
      feature('+9995'),
    ]
    const lines = features.map((one) => JSON.stringify(one))
    for (const separator of ['', '\x1e']) {
      const found = await read(t, lines.map((line) => `${separator}${line}\n`).join(''))
      t.same(found.phones, ['+9991', '+9995'])
      t.same(rejectedLines(found), { GeometryProjected: [2, 3, 4] })
    }
    const found = await read(t, JSON.stringify({ type: 'FeatureCollection', features }))
    t.same(rejectedLines(found), { GeometryProjected: [2, 3, 4] })
  })
}

t.test('a link and what has no name are refused', async (t) => {
  for (const crs of [{ type: 'link', properties: { href: 'x' } }, 4326, []]) {
    await t.rejects(read(t, collection({ crs })), { message: /a system that it does not name/ })
    const found = await read(t, `${JSON.stringify(feature('+9991', { crs }))}\n`)
    t.same(rejectedLines(found), { GeometryProjected: [1] })
  }
})

t.test('names of what is meant without it are taken', async (t) => {
  const names = [
    ...[
      'urn:ogc:def:crs:OGC:1.3:CRS84',
      'EPSG:4326',
      'epsg:4326',
      'CRS84',
      'OGC:1.3:CRS84',
      'WGS 84',
    ],
    ...[
      'EPSG:4979',
      'urn:ogc:def:crs:EPSG::4979',
      'urn:ogc:def:crs:OGC::CRS84h',
      'urn:x-ogc:def:crs:EPSG:4326',
    ],
    ...[
      'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
      'https://www.opengis.net/def/crs/EPSG/0/4326',
    ],
  ]
  const taken = [...names.map(named), { crs: null }]
  for (const crs of taken) t.same((await read(t, collection(crs))).phones, ['+9991'])
  const features = taken.map((crs) => `${JSON.stringify(feature('+9991', crs))}\n`)
  t.equal((await read(t, features.join(''))).phones.length, taken.length)
})

t.test('older forms of a collection that mean the same are taken', async (t) => {
  const code = (code: number) => ({ type: 'EPSG', properties: { code } })
  for (const crs of ['EPSG:4326', code(4326), code(4979)]) {
    t.same((await read(t, collection({ crs }))).phones, ['+9991'])
  }
  await t.rejects(read(t, collection({ crs: code(4267) })), { message: /"EPSG:4267"/ })
})

t.test('a member that is there twice is rejected, of features and of objects', async (t) => {
  const good = JSON.stringify(feature('+9990'))
  const twice = [
    good.replace('[-121.5,38.5]', '[1,2],"coordinates":[3,4]'),
    good.replace('"geometry"', '"geometry":null,"geometry"'),
    good.replace('"properties"', '"properties":{"number":"+9"},"properties"'),
    good.replace('"number"', '"number":"+9","number"'),
  ]
  const features = await read(t, [good, ...twice, ''].join('\n'))
  t.same(features.phones, ['+9990'])
  t.same(rejectedLines(features), { JsonInvalid: [2, 3, 4, 5] })
  const objects = await read(
    t,
    [
      '{"number":"+9990","lat":1,"lng":2,"note":"number, \\"number\\", \\"lat\\""}',
      '{"number":"+9991","number":"+9992","lat":1,"lng":2}',
      '{"number":"+9991","lat":1,"lng":2,"lat":3}',
      '{"number":"+9993","lat":1,"lng":2,"other":{"lat":5,"number":"lng"}}',
    ].join('\n'),
  )
  t.same(objects.phones, ['+9990', '+9993'])
  t.same(rejectedLines(objects), { JsonInvalid: [2, 3] })
})

function read(t: Test, content: string) {
  const path = join(t.testdir({}), 'people.json')
  writeFileSync(path, content)
  return readRows([path])
}
