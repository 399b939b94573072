import t from 'tap'
import { besideDouble } from '../../support/random/fine-coordinates.js'
import {
  box,
  feature,
  line,
  polygon,
  positions,
  request,
  selected,
  verdictsOf,
} from '../../support/service/asked.js'
import { Refused } from './unwrap.js'

/** Which of the places, in words, a shape holds for sure; nothing is left open. */
const held = (shape: unknown, places: string) =>
  selected(request(feature(shape)), places).map((at) => places.split(', ')[at])
const isRefused = (shape: unknown) => {
  try {
    verdictsOf(request(feature(shape)), '0 0')
    return undefined
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

t.test('cases are decided on the decimals that were sent', async (t) => {
  const justBeyond = besideDouble(180, 1)
  t.equal(String(justBeyond), '180.00000000000003')
  const places = '175 5, -175 5, 0 5'
  const ring = (middle: string) => polygon(`170 0, ${middle} 0, -170 0, -170 10, 170 10`)
  t.same(held(ring('180'), places), ['175 5', '-175 5'], 'the short way')
  t.same(held(ring('180.00000000000003'), places), ['0 5'], 'as drawn')
  const span = (east: string) => line(`-90 0, ${east} 0`)
  t.same(held(span('90'), '0 0, 180 0'), ['0 0'], 'exactly half a turn is as written')
  t.same(held(span('90.00000000000001'), '0 0, 180 0'), ['180 0'], 'more is not')
  const seam = (west: string) => polygon(`${west} 10, 180 10, 180 20, ${west} 20`)
  t.same(held(seam('-180'), '0 15, 180 15'), ['0 15', '180 15'])
  t.same(held(seam('-179.99999999999997'), '0 15'), [], 'less than a turn runs the short way')
})

t.test('longitudes are places at any number of turns', async (t) => {
  for (const turns of [-277_777, -3_000, -2, -1, 0, 1, 2, 5, 277_777]) {
    const lng = (degrees: number) => degrees + 360 * turns
    const shape = polygon(box(lng(170), 0, lng(190), 10))
    t.same(held(shape, '175 5, 180 10, -180 0, -170 5, 169.9999999 5, 0 5'), [
      '175 5',
      '180 10',
      '-180 0',
      '-170 5',
    ])
    t.same(held(line(`${lng(10)} 0, ${lng(20)} 0`), '15 0, 9 0'), ['15 0'])
  }
  t.equal(isRefused(polygon(box(100_000_000, 0, 100_000_000.5, 1))), 'LongitudeOutOfRange')
  t.equal(isRefused(polygon(box(-100_000_000, 0, -99_999_999, 1))), undefined)
})

t.test('three turns wide is not too wide, nor a turn back on the way round a pole', async (t) => {
  for (const [east, code] of [
    ['540', undefined],
    ['540.0000001', 'SeveralTurns'],
    ['540.0000000000001', 'SeveralTurns'],
  ]) {
    t.equal(isRefused(polygon(`-540 0, ${east} 0, 0 5`)), code, `a ring to ${east}`)
    t.equal(isRefused(line(`-540 0, ${east} 0`)), code, `a line to ${east}`)
  }
  // Forth to 720 and back to 360, and then closed.
  const forth = Array.from({ length: 7 }, (_, at) => ((120 * at + 180) % 360) - 180)
  const back = [-120, 120]
  const round = (lngs: number[]) => lngs.map((lng) => `${lng} 60`).join(', ')
  t.equal(isRefused(polygon(round([...forth, ...back]))), undefined)
  t.equal(isRefused(polygon(round([...forth, 1, -119, 120]))), 'SeveralTurns')
  t.equal(isRefused(polygon(round([...forth, 120]))), 'SeveralTurns')
})

t.test('a ring holds the pole nearer to its mean latitude along it', async (t) => {
  const poles = '0 90, 0 -90'
  const cases: [ring: string, holds: string][] = [
    ['-120 50, 0 50, 120 -20', '0 90'],
    ['-120 50, 0 50, 60 15, 90 -2.5, 120 -20', '0 90'],
    ['-120 20, 0 20, 108 -25, 114 -27.5, 120 -30', '0 90'],
    ['-120 -20, 0 -20, 108 25, 114 27.5, 120 30', '0 -90'],
    // Back over 90 degrees in the south, and there again: all three parts count.
    ['0 10, 120 10, 30 -80, 120 -80, -120 10', '0 -90'],
    ['0 1, 120 1, -120 1', '0 90'],
    ['0 -1, 120 -1, -120 -1', '0 -90'],
    ['0 1, 0 -89, 0 1, 120 1, -120 1', '0 90'],
  ]
  for (const [ring, holds] of cases) {
    t.same(held(polygon(ring), poles), [holds], ring)
    const reversed = ring.split(', ').reverse().join(', ')
    t.same(held(polygon(reversed), poles), [holds], reversed)
  }
  t.equal(isRefused(polygon('0 1, 120 1, -120 0.9999999999999999')), 'AmbiguousPole')
  t.equal(isRefused(polygon('0 50, 120 50, 1 -80, 120 -31')), undefined, 'goes round nothing')
})

t.test('rings without area are points and edges beside others', async (t) => {
  const square = box(0, 0, 4, 4)
  const members = (...shells: string[]) => ({
    type: 'MultiPolygon',
    coordinates: shells.map((shell) => [positions(shell)]),
  })
  t.same(held(members(square, '9 9, 11 11, 9 9'), '1 1, 10 10, 9 9, 10 11'), [
    '1 1',
    '10 10',
    '9 9',
  ])
  t.same(held(members(square, '9 9'), '9 9, 9 8'), ['9 9'])
  t.same(held(members(square, '179 0, -179 0'), '180 0, 0 -1, -100 0'), ['180 0'])
  t.same(held(polygon(square, '1 1, 3 3, 1 1'), '2 2, 1 2'), ['2 2', '1 2'], 'a hole of nothing')
  t.same(held(polygon('0 0, 8 0', box(2, -1, 4, 1)), '1 0, 2 0, 3 0, 8 0'), ['1 0', '2 0', '8 0'])
  const both = { type: 'GeometryCollection', geometries: [members('9 9'), polygon(square)] }
  t.same(held(both, '9 9, 1 1'), ['9 9', '1 1'])
  for (const shape of [members('9 9'), members('0 0, 1 1', '3 3'), polygon('0 0, 1 1, 0 0')]) {
    t.equal(isRefused(shape), 'DegenerateRing')
  }
  t.equal(isRefused(members(square, '')), 'DegenerateRing', 'a ring of no positions')
  const margin = feature(members(square, '10 0, 12 0'), { radius: 111_500 })
  t.same(selected(request(margin), '11 1, 13 0, 11 0, 11 1.1, 5 2'), [0, 1, 2, 4])
})

t.test('an arc to the very opposite is refused, a straight line there is not', async (t) => {
  const opposite = line('-180 10, 0 -10')
  const corridor = request(feature(opposite, { buffer: 1 }))
  t.throws(() => verdictsOf(corridor, '0 0'), new Refused('AntipodalVertices'))
  t.equal(isRefused(opposite), undefined)
})

t.test('what has no coordinates is nobody', async (t) => {
  const types = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon']
  for (const type of types) {
    t.same(held({ type, coordinates: [] }, '0 0'), [], type)
    const radius = { radius: 20_015_000 }
    t.same(selected(request(feature({ type, coordinates: [] }, radius)), '0 0'), [], type)
  }
  t.same(held({ type: 'GeometryCollection', geometries: [] }, '0 0'), [])
})
