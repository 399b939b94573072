/**
 * TopoJSON as other programs write it, random topologies, and what a topology must not be.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { readTopoJson, topoJsonFeatures } from '../../src/notations/topojson/read-topojson.js'
import { testSeed } from '../support/random/properties.js'
import { topologyPlans, writeTopology } from '../support/random/topologies.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

/** Two squares beside each other; the side that they share is one arc, and each goes along it in its way. */
const squares = () => ({
  type: 'Topology' as unknown,
  objects: {
    zones: {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Polygon', id: 'W', properties: { exclude: true }, arcs: [[0, 1]] },
        { type: 'Polygon', bbox: [1, 0, 2, 1], properties: { radius: 5 }, arcs: [[2, -1]] },
        { type: 'Point', coordinates: [7, 8] },
        { type: null },
      ] as unknown[],
    },
  } as Record<string, unknown>,
  arcs: [
    at([1, 0], [1, 1]),
    at([1, 1], [0, 1], [0, 0], [1, 0]),
    at([1, 0], [2, 0], [2, 1], [1, 1]),
  ] as unknown[],
})

const at = (...positions: [number, number][]) => positions

const west = {
  type: 'Polygon',
  coordinates: [at([1, 0], [1, 1], [0, 1], [0, 0], [1, 0])],
}
const east = {
  type: 'Polygon',
  coordinates: [at([1, 0], [2, 0], [2, 1], [1, 1], [1, 0])],
}

t.test('arcs are put together, and properties are kept', async (t) => {
  const { features } = readTopoJson(squares(), 'topoJSON')
  t.same(features, [
    { type: 'Feature', id: 'W', properties: { exclude: true }, geometry: west },
    { type: 'Feature', properties: { radius: 5 }, geometry: east },
    { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [7, 8] } },
    { type: 'Feature', properties: {}, geometry: null },
  ])
})

t.test('what a topology has of its own goes to the reader of drawings', async (t) => {
  const crs = { type: 'name', properties: { name: 'EPSG:3857' } }
  const read = readTopoJson({ ...squares(), crs, radius: 5, object: 'zones' }, 'topoJSON')
  t.match(read, { type: 'FeatureCollection', crs, radius: 5, features: { length: 4 } })
  t.same(Object.keys(read).toSorted(), ['crs', 'features', 'radius', 'type'])
})

t.test('one of several objects has to be named', async (t) => {
  const polygon = { type: 'Polygon', arcs: [[0, 1]], properties: { n: 1 } }
  const topology = { ...squares(), objects: { ...squares().objects, one: polygon } }
  t.match(faultOf(topology), { message: /several objects/, field: 'topoJSON' })
  t.equal(readTopoJson({ ...topology, object: 'zones' }, 'topoJSON').features.length, 4)
  t.same(readTopoJson({ ...topology, object: 'one' }, 'topoJSON').features, [
    { type: 'Feature', properties: { n: 1 }, geometry: west },
  ])
  t.same(topoJsonFeatures(topology, 'file', 'one'), [
    { id: undefined, name: undefined, properties: { n: 1 }, geometry: west },
  ])
  for (const object of ['none', 'toString', '', 5, ['one']]) {
    t.match(faultOf({ ...topology, object }), { field: 'topoJSON.object' }, `${object}`)
  }
})

t.test('the counties of us-atlas are read as its integers say', async (t) => {
  const path = createRequire(import.meta.url).resolve('us-atlas/counties-10m.json')
  const topology = JSON.parse(readFileSync(path, 'utf8'))
  const counties = topoJsonFeatures(topology, 'file', 'counties', 10 ** 6)
  t.equal(counties.length, 3_231)
  const harris = counties.find(({ id }) => id === '48201')
  t.match(harris, { properties: { name: 'Harris' }, geometry: { type: 'Polygon' } })
  const { scale, translate } = topology.transform
  const own = topology.objects.counties.geometries.find(
    (each: { id: string }) => each.id === '48201',
  )
  const decoded = own.arcs.map((references: number[]) => {
    const ring = references.flatMap((reference, index) => {
      let [x, y] = [0, 0]
      const steps: [number, number][] = topology.arcs[reference < 0 ? ~reference : reference]
      const absolute = steps.map(([stepX, stepY]) => {
        x += stepX
        y += stepY
        return [x, y]
      })
      const forwards = reference < 0 ? absolute.toReversed() : absolute
      return index === 0 ? forwards : forwards.slice(1)
    })
    return ring.map(([x, y]) => [x * scale[0] + translate[0], y * scale[1] + translate[1]])
  })
  t.same(harris?.geometry, { type: 'Polygon', coordinates: decoded })
  t.match(faultOf({ ...topology, object: 'counties' }), { code: 'TooManyVertices' })
})

t.test('random topologies are what their writer cut', async (t) => {
  const seed = testSeed(t)
  const random = seededRandom(seed)
  fc.assert(
    fc.property(topologyPlans, (plan) => {
      const { topology, geometries } = writeTopology(plan, random)
      const parsed = JSON.parse(JSON.stringify(topology))
      const read = readTopoJson(parsed, 'topoJSON').features
      const wanted = geometries.map((geometry, index) => ({
        type: 'Feature',
        id: `${index}`,
        properties: { radius: index },
        geometry,
      }))
      const [one, other] = [JSON.stringify(read), JSON.stringify(wanted)]
      if (one !== other) throw new Error(`${one} is not ${other}`)
    }),
    { seed, numRuns: byTier({ ci: 500, soak: 10_000 }) },
  )
})

t.test('what would change an area is refused with its path', async (t) => {
  const withGeometry = (geometry: unknown) => ({
    ...squares(),
    objects: { zones: { type: 'GeometryCollection', geometries: [geometry] } },
  })
  const withArcs = (arcs: unknown) => withGeometry({ type: 'Polygon', arcs })
  const withArc = (arc: unknown) => ({ ...squares(), arcs: [arc, ...squares().arcs.slice(1)] })
  const quantized = (transform: unknown, arcs: unknown = [at([0, 0], [1, 1], [-1, -1])]) => ({
    ...squares(),
    transform,
    arcs,
    objects: { zones: { type: 'LineString', arcs: [0] } },
  })
  const grid = { scale: [1, 1], translate: [0, 0] }
  const first = 'topoJSON.objects.zones.geometries[0]'
  const cases: [what: string, topology: unknown, path: string, message?: RegExp][] = [
    ['no object', 'secret', 'topoJSON'],
    ['a list', [], 'topoJSON'],
    ['GeoJSON', { type: 'FeatureCollection', features: [] }, 'topoJSON', /GeoJSON/],
    ['a topology that is GeoJSON, too', { ...squares(), Features: [] }, 'topoJSON', /GeoJSON/],
    ['another type', { ...squares(), type: 'topology' }, 'topoJSON.type'],
    ['objects that are none', { ...squares(), objects: [] }, 'topoJSON.objects'],
    ['no objects', { ...squares(), objects: {} }, 'topoJSON.objects'],
    [
      'an object that is none',
      { ...squares(), objects: { '+999123': null } },
      'topoJSON.objects.*',
    ],
    ['no arcs', { ...squares(), arcs: undefined }, 'topoJSON.arcs'],
    ['an arc that is none', withArc({}), 'topoJSON.arcs[0]'],
    ['an arc of one position', withArc([[1, 0]]), 'topoJSON.arcs[0]'],
    [
      'an arc of no number',
      withArc([
        [1, 0],
        [1, '1'],
      ]),
      'topoJSON.arcs[0][1]',
    ],
    ['an arc of one number', withArc([[1, 0], [1]]), 'topoJSON.arcs[0][1]'],
    [
      'an arc of null',
      withArc([
        [1, 0],
        [1, null],
      ]),
      'topoJSON.arcs[0][1]',
    ],
    [
      'an infinite arc',
      withArc([
        [1, 0],
        [1, Infinity],
      ]),
      'topoJSON.arcs[0][1]',
    ],
    [
      'no geometries',
      { ...squares(), objects: { a: { type: 'GeometryCollection' } } },
      'topoJSON.objects.a.geometries',
    ],
    ['a geometry that is none', withGeometry(null), first],
    ['no type', withGeometry({ arcs: [[0, 1]] }), `${first}.type`],
    [
      'another type of geometry',
      withGeometry({ type: 'polygon', arcs: [[0, 1]] }),
      `${first}.type`,
    ],
    ['a feature', withGeometry({ type: 'Feature' }), `${first}.type`],
    [
      'a radius beside the properties',
      withGeometry({ type: 'Polygon', arcs: [[0, 1]], radius: 5 }),
      first,
      /properties/,
    ],
    [
      'coordinates of a polygon',
      withGeometry({ type: 'Polygon', arcs: [[0, 1]], coordinates: [] }),
      first,
    ],
    ['arcs of nothing', withGeometry({ type: null, arcs: [[0, 1]] }), first],
    [
      'properties that are none',
      withGeometry({ type: 'Polygon', arcs: [[0, 1]], properties: 5 }),
      `${first}.properties`,
    ],
    [
      'an id that is none',
      withGeometry({ type: 'Polygon', arcs: [[0, 1]], id: {} }),
      `${first}.id`,
    ],
    ['arcs that are none', withArcs(undefined), `${first}.arcs`],
    ['a ring that is none', withArcs([0, 1]), `${first}.arcs[0]`],
    ['a ring of no arc', withArcs([[]]), `${first}.arcs[0]`],
    ['an index that is no number', withArcs([['0', 1]]), `${first}.arcs[0][0]`],
    ['an index between two', withArcs([[0.5, 1]]), `${first}.arcs[0][0]`],
    ['an index beyond', withArcs([[0, 3]]), `${first}.arcs[0][1]`],
    ['an index before', withArcs([[-4, 1]]), `${first}.arcs[0][0]`],
    ['arcs that do not join', withArcs([[0, 0]]), `${first}.arcs[0][1]`, /begin where/],
    [
      'arcs that join the other way round',
      withArcs([[0, -2]]),
      `${first}.arcs[0][1]`,
      /begin where/,
    ],
    ['a ring that is open', withArcs([[1]]), `${first}.arcs[0]`, /end where/],
    ['a hole that is open', withArcs([[0, 1], [2]]), `${first}.arcs[1]`, /end where/],
    [
      'a point of one number',
      withGeometry({ type: 'Point', coordinates: [1] }),
      `${first}.coordinates`,
    ],
    [
      'points that are none',
      withGeometry({ type: 'MultiPoint', coordinates: [1, 2] }),
      `${first}.coordinates[0]`,
    ],
    [
      'properties of a part',
      withGeometry({
        type: 'GeometryCollection',
        geometries: [{ type: 'Point', coordinates: [1, 2], properties: { exclude: true } }],
      }),
      `${first}.geometries[0].properties`,
    ],
    [
      'properties of the object',
      {
        ...squares(),
        objects: {
          a: { type: 'GeometryCollection', geometries: [], properties: { exclude: true } },
        },
      },
      'topoJSON.objects.a.properties',
    ],
    ['a transform that is none', quantized(5), 'topoJSON.transform'],
    ['a scale that is missing', quantized({ translate: [0, 0] }), 'topoJSON.transform.scale'],
    ['a scale of no number', quantized({ ...grid, scale: [1, NaN] }), 'topoJSON.transform.scale'],
    ['a scale of nothing', quantized({ ...grid, scale: [0, 1] }), 'topoJSON.transform.scale'],
    [
      'a translation of one number',
      quantized({ ...grid, translate: [1] }),
      'topoJSON.transform.translate',
    ],
    ['steps between two', quantized(grid, [at([0, 0], [0.5, 1])]), 'topoJSON.arcs[0][1]', /whole/],
    [
      'steps beyond all',
      quantized(grid, [at([2 ** 53 - 1, 0], [1, 0])]),
      'topoJSON.arcs[0][1]',
      /whole/,
    ],
    [
      'a point between two',
      { ...quantized(grid), objects: { a: { type: 'Point', coordinates: [0.5, 1] } } },
      'topoJSON.objects.a.coordinates',
      /whole/,
    ],
  ]
  for (const [what, topology, path, message = /./] of cases) {
    const fault = faultOf(topology)
    t.match(fault, { code: 'InvalidTopoJson', status: 400, field: path, message }, what)
    t.ok(fault?.message.startsWith(path), what)
    t.notMatch(fault?.message, /secret/, what)
  }
})

t.test('a small topology is not expanded to a large one', async (t) => {
  const loop = [at([0, 0], [1, 0], [1, 1], [0, 1], [0, 0])]
  const round = (count: number) => ({
    type: 'Topology',
    arcs: loop,
    objects: { zones: { type: 'LineString', arcs: Array(count).fill(0) } },
  })
  const most = Math.floor((limits.vertexCount - 1) / 4)
  t.match(faultOf(round(most + 1)), { code: 'TooManyVertices' })
  t.match(readTopoJson(round(most), 'topoJSON').features, [
    { geometry: { coordinates: { length: 1 + 4 * most } } },
  ])
  const rings = Array(200_000).fill([0])
  const many = { ...round(1), objects: { zones: { type: 'Polygon', arcs: rings } } }
  t.match(faultOf(many), { code: 'TooManyVertices' })
  let nested: object = { type: 'Point', coordinates: [1, 2] }
  for (let depth = 0; depth < 100_000; depth++) {
    nested = { type: 'GeometryCollection', geometries: [nested] }
  }
  t.match(faultOf({ ...round(1), objects: { zones: nested } }), { code: 'TooComplex' })
})

function faultOf(topology: unknown): ServiceError | undefined {
  try {
    readTopoJson(topology, 'topoJSON')
  } catch (fault) {
    if (fault instanceof ServiceError) return fault
    throw fault
  }
  return undefined
}
