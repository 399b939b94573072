import t from 'tap'
import { FARTHEST_METRES } from '../../src/geometry/great-circle.js'
import { limits } from '../../src/limits.js'
import { validate } from '../../src/selection/validate.js'

/** What a request may hold, at each bound and one past it. */

const polygon = (...rings: unknown[]) => ({ type: 'Polygon', coordinates: rings })
const point = { type: 'Point', coordinates: [1, 2] }
const feature = (geometry: unknown, properties: unknown = {}) => ({ geometry, properties })
const collection = (...features: unknown[]) => ({ geoJSON: { features } })
const triangle = [
  [0, 0],
  [1, 0],
  [0, 1],
]

const read = (...features: unknown[]) => validate(collection(...features)).shapes

t.test('features, positions and rings', async (t) => {
  const features = (count: number) => collection(...Array(count).fill(feature(null)))
  t.ok(validate(features(limits.featureCount)))
  t.throws(() => validate(features(limits.featureCount + 1)), {
    code: 'InvalidGeoJson',
    field: 'geoJSON.features',
  })

  const ring = (count: number) =>
    Array.from({ length: count }, (_, i) => [(i % 1000) / 1000, i / 100_000])
  const [layer] = read(feature(polygon(ring(limits.vertexCount)))).included
  t.equal(layer.polygons.vertices.length, 2 * limits.vertexCount)
  t.throws(() => read(feature(polygon(ring(limits.vertexCount + 1)))), {
    code: 'TooManyVertices',
    status: 422,
  })

  const rings = (count: number) => feature(polygon(...Array(count).fill(triangle)))
  const [most] = read(rings(limits.ringCount)).included
  t.equal(most.polygons.ringStarts.length, limits.ringCount + 1)
  t.throws(() => read(rings(limits.ringCount + 1)), { code: 'TooComplex' })
})

t.test('a line counts twice, as it runs there and back', async (t) => {
  const line = (count: number) => ({
    type: 'LineString',
    coordinates: Array.from({ length: count }, (_, i) => [i / 1000, 0]),
  })
  t.ok(read(feature(line(limits.vertexCount / 2))))
  t.throws(() => read(feature(line(limits.vertexCount / 2 + 1))), { code: 'TooManyVertices' })
})

t.test('arcs, over all features and sources of a request', async (t) => {
  // A margin along a parallel takes many arcs for each edge.
  const north = polygon([
    [0, 60],
    [20, 60],
    [20, 61],
    [0, 61],
  ])
  const margin = (properties = {}) => feature(north, { radius: 1, ...properties })
  const [{ reaches }] = read(margin()).included
  const marginCount = Math.floor(limits.arcCount / reaches.radiiMetres.length)
  const restCount = limits.arcCount - marginCount * reaches.radiiMetres.length
  const corridor = (arcCount: number) => {
    const coordinates = Array.from({ length: arcCount + 1 }, (_, i) => [i / 1000, 0])
    return feature({ type: 'LineString', coordinates }, { buffer: 1, sources: [7] })
  }
  const margins = Array.from({ length: marginCount }, (_, i) => margin({ exclude: i % 2 === 0 }))
  const { included, excluded } = read(...margins, corridor(restCount))
  const arcCounts = [...included, ...excluded].map((layer) => layer.reaches.radiiMetres.length)
  t.equal(arcCounts.length, 3)
  t.equal(
    arcCounts.reduce((sum, count) => sum + count, 0),
    limits.arcCount,
  )
  t.throws(() => read(...margins, corridor(restCount + 1)), {
    code: 'TooComplex',
    status: 422,
    field: `geoJSON.features[${marginCount}]`,
  })
})

t.test('the nearest, and features that pick them', async (t) => {
  t.equal(read(feature(point, { nearest: limits.nearestCount })).nearest.length, 1)
  t.throws(() => read(feature(point, { nearest: limits.nearestCount + 1 })), {
    code: 'InvalidNearest',
  })
  const picks = (count: number) => Array(count).fill(feature(point, { nearest: 1 }))
  t.equal(read(...picks(limits.nearestFeatureCount)).nearest.length, limits.nearestFeatureCount)
  t.throws(() => read(...picks(limits.nearestFeatureCount + 1)), {
    code: 'TooComplex',
    field: `geoJSON.features[${limits.nearestFeatureCount}]`,
  })
})

t.test('a radius goes half way round the Earth', async (t) => {
  t.equal(read(feature(point, { radius: FARTHEST_METRES })).included.length, 1)
  t.throws(() => read(feature(point, { radius: FARTHEST_METRES + 1 })), { code: 'InvalidRadius' })
})

t.test('a page is as long as a request says, within its limit', async (t) => {
  t.equal(validate({ limit: 1 }).limit, 1)
  t.equal(validate({ limit: limits.pageRecipientCount }).limit, limits.pageRecipientCount)
  for (const limit of [0, limits.pageRecipientCount + 1]) {
    t.throws(() => validate({ limit }), { code: 'InvalidRequest', field: 'limit' })
  }
})

t.test('a list names as many sources as a snapshot can have', async (t) => {
  const sources = (count: number) => Array.from({ length: count }, (_, id) => id)
  t.equal(validate({ sources: sources(limits.sourceCount) }).sourceIds?.length, limits.sourceCount)
  t.throws(() => validate({ sources: sources(limits.sourceCount + 1) }), {
    code: 'InvalidRequest',
    field: 'sources',
  })
})
