import t from 'tap'
import { limits } from '../../src/limits.js'
import type { Position } from '../../src/notations/drawn.js'
import { readGeohash } from '../../src/notations/geohash.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { type Place, selectedBy } from '../support/selected.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 2_000, soak: 10_000 })

const DIGITS = '0123456789bcdefghjkmnpqrstuvwxyz'

t.test('known geohashes have their known boxes', async (t) => {
  t.same(boxes('s'), [[0, 0, 45, 45]])
  t.same(boxes('ezs42'), [[-5.625, 42.5830078125, -5.5810546875, 42.626953125]])
  t.same(boxes(['0', 'Z', 'z']), [
    [-180, -90, -135, -45],
    [135, 45, 180, 90],
  ])
  t.same(readGeohash([], 'geohash'), { type: 'MultiPolygon', coordinates: [] })
})

t.test('what is no geohash is refused by its place', async (t) => {
  for (const value of [
    '',
    ' ',
    'a',
    'ezsi',
    'l',
    'o',
    'ezs 42',
    'ezs42\n',
    'ezs4é',
    'ezs42ezs42ezs',
  ]) {
    t.throws(
      () => readGeohash(value, 'geohash'),
      { code: 'InvalidGeohash', field: 'geohash' },
      value,
    )
    const field = 'geohash[1]'
    t.throws(() => readGeohash(['s', value], 'geohash'), { code: 'InvalidGeohash', field }, value)
  }
  for (const value of [undefined, null, 5, {}, 'e'.repeat(2 ** 20)]) {
    t.throws(() => readGeohash(value, 'geohash'), { code: 'InvalidGeohash', field: 'geohash' })
  }
  t.throws(() => readGeohash(['s', 5], 'geohash'), { code: 'InvalidGeohash', field: 'geohash[1]' })
  const many = Array(limits.cellCount).fill('s')
  t.match(readGeohash(many, 'geohash'), { type: 'MultiPolygon' })
  t.throws(() => readGeohash([...many, 's'], 'geohash'), { code: 'InvalidGeohash' })
})

t.test('random geohashes have the boxes that halving the globe gives', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < ROUND_COUNT; round++) {
    const geohash = Array.from({ length: random.between(1, 12) }, () =>
      random.pick([...DIGITS]),
    ).join('')
    const spelled = random.pick([geohash, geohash.toUpperCase()])
    const expected = halved(geohash)
    if (`${boxes(spelled)}` !== `${expected}`) t.same(boxes(spelled), [expected], geohash)
  }
  t.pass(`${ROUND_COUNT} geohashes`)
})

t.test('a set of geohashes selects whoever is in one of them', async (t) => {
  const random = seededRandom(testSeed(t))
  let hitCount = 0
  for (let round = 0; round < byTier({ ci: 150, soak: 3_000 }); round++) {
    const first = random.pick([...'0bpzs2r8x'])
    const hashes = Array.from({ length: random.between(1, 5) }, () =>
      [first, ...Array.from({ length: random.between(0, 3) }, () => random.pick([...DIGITS]))].join(
        '',
      ),
    )
    const sides = hashes.map(halved)
    const corners = sides.flatMap(([west, south, east, north]) => [
      [west, south],
      [east, north],
      [(west + east) / 2, (south + north) / 2],
    ])
    const places = Array.from({ length: 40 }, (): Place => {
      const [lng, lat] = random.pick(corners)
      const near = () => random.pick([0, 0, -1, 1, random.between(-1e7, 1e7)])
      return [
        Math.max(-1.8e9, Math.min(1.8e9, Math.round(lng * 1e7) + near())),
        Math.max(-9e8, Math.min(9e8, Math.round(lat * 1e7) + near())),
      ]
    })
    const expected = places.map(([lng, lat]) =>
      sides.some(([west, south, east, north]) => {
        // -180 and 180 are one place.
        const isBetween = [lng, lng - 3.6e9, lng + 3.6e9].some(
          (turned) => turned >= west * 1e7 && turned <= east * 1e7,
        )
        return isBetween && lat >= south * 1e7 && lat <= north * 1e7
      }),
    )
    hitCount += expected.filter(Boolean).length
    t.same(selectedBy(readGeohash(hashes, 'geohash'), places), expected, hashes.join())
  }
  t.ok(hitCount > 100, `${hitCount} hits`)
})

function boxes(value: unknown): number[][] {
  const { coordinates } = readGeohash(value, 'geohash') as unknown as {
    coordinates: Position[][][]
  }
  return coordinates.map(([[southWest, , northEast]]) => [...southWest, ...northEast])
}

/** By definition: five bits a letter, which halve longitudes and latitudes in turn. */
function halved(geohash: string): [number, number, number, number] {
  const bits = [...geohash].map((digit) => DIGITS.indexOf(digit).toString(2).padStart(5, '0'))
  const side = (low: number, high: number, which: number) => {
    let [min, max] = [low, high]
    for (const [index, bit] of [...bits.join('')].entries()) {
      if (index % 2 !== which) continue
      const middle = (min + max) / 2
      if (bit === '1') min = middle
      else max = middle
    }
    return [min, max]
  }
  const [west, east] = side(-180, 180, 0)
  const [south, north] = side(-90, 90, 1)
  return [west, south, east, north]
}
