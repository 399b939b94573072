import t from 'tap'
import { validate } from '../../src/selection/validate.js'
import { attachShard } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import { columnsOf } from '../support/data/columns.js'
import { positions } from '../support/service/asked.js'
import { shardsOf } from '../support/service/local-service.js'

const far = '0 90, 0 80, 10 50, -120 35, 0 30.25, 90 0, -60 -20, 0 -90'

/**
 * What a ring turned by was a floating sum, so that a box over ±180 with more than seven decimals went
 * once round the globe.
 */
t.test('a box over the antimeridian does not become a polar cap', async (t) => {
  const beside = '179.4999999 30.2, -179.4999999 30.2, 180 29.9999999, 180 30.5000001'
  const within = '179.5 30.25, 179.75 30.1, 180 30, -180 30.5, -179.75 30.25'
  const boxes = [
    '179.5 30, -179.50000002 30, -179.499999978 30.5, 179.5 30.5, 179.5 30',
    '179.5 30, -179.50000002 30, -179.499999978 30.5, 179.5 30.5',
    '-179.499999978 30.5, -179.50000002 30, 179.5 30, 179.5 30.5, -179.499999978 30.5',
    '179.5 30, 180.49999998 30, 180.500000022 30.5, 179.5 30.5, 179.5 30',
  ]
  for (const box of boxes) {
    t.same(selected([box], within), positions(within), box)
    t.same(selected([box], `${beside}, ${far}`), [], box)
  }
})

t.test('a ring round a pole in fine longitudes is a polar cap', async (t) => {
  const ring = '-119.10614474 70, 0.50976229 71, 120.19201021 72'
  const [within, without] = ['0 90, 5 72, 180 75, -119 71, -100 80', '0 70, 180 60, -60 60, 0 -90']
  for (const lngs of [ring, ring.split(', ').reverse().join(', ')]) {
    t.same(selected([lngs], within), positions(within))
    t.same(selected([lngs], without), [])
  }
})

/** Rounding the turn alone had made everything right but this. */
t.test('a vertex of seven decimals at 180 is exact beside fine ones', async (t) => {
  const vertex = '180 -15.7250416'
  const rings = [
    `179.1234567890123 -15.9, ${vertex}, 179.3456789012345 -15.1`,
    `-179.1234567890123 -15.9, ${vertex}, 179.3456789012345 -15.1, 179.5 -16.00000001`,
    `-179.1234567890123 -15.9, -${vertex}, -179.3456789012345 -15.1`,
  ]
  for (const ring of rings) {
    const places = '180 -15.7250416, -180 -15.7250416'
    t.same(selected([ring], places), positions(places), ring)
  }
})

/** The mean was that of the vertices, so that more of them on one edge changed the pole. */
t.test('vertices on an edge do not change the hemisphere', async (t) => {
  const cases = [
    ['-120 50, 0 50', '60 15, 90 -2.5', '120 -20'],
    ['-120 20, 0 20', '108 -25, 114 -27.5', '120 -30'],
    ['-120 20, 0 20', '119.99999 -29.9999958333333, 119.999999 -29.9999995833333', '120 -30'],
  ]
  for (const [start, between, end] of cases) {
    for (const ring of [`${start}, ${end}`, `${start}, ${between}, ${end}`]) {
      t.same(selected([ring], '0 90, -120 60, 120 0'), positions('0 90, -120 60, 120 0'), ring)
      t.same(selected([ring], '0 -90, -120 0, 120 -60'), [], ring)
    }
  }
})

t.test('a polygon is the same any number of turns away', async (t) => {
  const places = '170.5 1, 179.5 0.5, 180 1, -180 0, -179.5 2'
  for (const turns of [-277_000, -3_001, -4, -2, 2, 3, 1_000, 277_000]) {
    const lng = (degrees: number) => degrees + 360 * turns
    const box = `${lng(170.5)} 0, ${lng(180.5)} 0, ${lng(180.5)} 2, ${lng(170.5)} 2`
    t.same(selected([box], `${places}, ${far}`), positions(places), `${turns} turns`)
  }
})

/** Which of the places, given in words, are in a polygon whose rings are given in words. */
function selected(rings: readonly string[], places: string): number[][] {
  const recipients = positions(places).map(([lng, lat], i) => ({
    phone: `+9990${i}`,
    lng: Math.round(lng * 1e7),
    lat: Math.round(lat * 1e7),
    contact: '',
  }))
  const [shard] = shardsOf(columnsOf(recipients), 1, recipients.length).map(attachShard)
  const geoJSON = { type: 'Polygon', coordinates: rings.map(positions) }
  const [runs] = selectInside([shard], validate({ geoJSON }).shapes, { edgeTestCount: 1e9 })
  const found = new Set<string>()
  for (let i = 0; i < runs.length; i += 2) {
    for (let index = runs[i]; index < runs[i + 1]; index++) {
      found.add(`${shard.coords[2 * index] / 1e7} ${shard.coords[2 * index + 1] / 1e7}`)
    }
  }
  return positions(places).filter(([lng, lat]) => found.has(`${lng} ${lat}`))
}

/** Units that rounding had made whole were taken for longitudes of seven decimals. */
t.test('an edge of half a turn and a last place runs the short way', async (t) => {
  const [within, without] = ['0 12', '-150 12']
  const box = (east: string) => `-71.9899 10, ${east} 10, ${east} 20, -71.9899 20`
  t.same(selected([box('108.0101')], `${within}, ${without}`), positions(within))
  for (const east of ['108.01010000000001', '108.01010000000002']) {
    t.same(selected([box(east)], `${within}, ${without}`), positions(without), east)
  }
})

t.test('a ring round a pole is taken or refused from whichever vertex it is sent', async (t) => {
  const ring = [
    ...['0 60', '100 61', '-160 62', '-60 63', '40 64', '140 65', '-120 66', '-20 67', '80 80'],
    ...['-20 79.5', '-120 79', '140 78.5', '40 78'],
  ]
  for (let start = 0; start < ring.length; start++) {
    const turned = [...ring.slice(start), ...ring.slice(0, start)]
    for (const way of [turned, turned.toReversed()]) {
      t.throws(() => selected([way.join(', ')], far), { code: 'AmbiguousRing' }, `${start}`)
    }
  }
  const shorter = ring.filter((_, at) => at < 4 || at > 8)
  const expected = selected([shorter.join(', ')], far)
  for (let start = 1; start < shorter.length; start++) {
    const turned = [...shorter.slice(start), ...shorter.slice(0, start)]
    t.same(selected([turned.join(', ')], far), expected, `${start}`)
  }
})

/** The hole was followed to ±540, and the shell drawn to 1,080. */
t.test('a margin does not go round what a polar hole removes of a wide shell', async (t) => {
  const hole = [
    [0, 2],
    [120, 2],
    [-120, 2],
  ]
  const edgesOf = (west: number, east: number) => {
    const shell = [
      [west, 1],
      [east, 1],
      [east, 3],
      [west, 3],
    ]
    const geometry = { type: 'Polygon', coordinates: [shell, hole] }
    const feature = { type: 'Feature', geometry, properties: { buffer: 100 } }
    const { arcs } = validate({ geoJSON: feature }).shapes.included[0].reaches
    return Math.max(...arcs.filter((_, i) => i % 2 === 1))
  }
  t.equal(edgesOf(0, 1_080), 2e7, 'nothing of the edge at 3 degrees is left')
  t.equal(edgesOf(-540, 540), 2e7)
})
