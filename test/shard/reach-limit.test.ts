import { distance } from 'geokdbush'
import t from 'tap'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { attachShard } from '../../src/shard/layout.js'
import { countInside } from '../../src/shard/select.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

type Place = readonly [lng: number, lat: number]

/** The same distance as clients write it, each a few last digits off the others. */
const spellings: Readonly<Record<string, (from: Place, to: Place) => number>> = {
  'arc sine': (from, to) => 2 * 6_371_000 * Math.asin(Math.sqrt(haversine(from, to))),
  'arc tangent': (from, to) => {
    const square = haversine(from, to)
    return 2 * 6_371_000 * Math.atan2(Math.sqrt(square), Math.sqrt(1 - square))
  },
  geokdbush: (from, to) => 1000 * distance(from[0], from[1], to[0], to[1]),
}

for (const [name, metresBetween] of Object.entries(spellings)) {
  t.test(`a recipient exactly at the radius is inside, measured by ${name}`, async (t) => {
    const random = seededRandom(testSeed(t))
    for (const kind of ['uniform', 'clustered'] as const) {
      const columns = randomWorld(kind, 300, random)
      const shards = shardsOf(columns, 1, 300).map(attachShard)
      const places = Array.from(
        columns.lngs,
        (lng, row): Place => [lng / 1e7, columns.lats[row] / 1e7],
      )
      const count = (coordinates: Place, radius: number) => {
        const geometry = { type: 'Point', coordinates }
        const shapes = readDrawing(
          { type: 'Feature', geometry, properties: { radius } },
          'shape',
        ).shapes
        return countInside(shards, shapes, { edgeTestCount: 1e9 })[0]
      }
      let askedCount = 0
      let wrongCount = 0
      while (askedCount < 500) {
        const [centre, other] = [random.pick(places), random.pick(places)]
        const radius = metresBetween(centre, other)
        if (radius < 1) continue
        askedCount++
        const within = (metres: number) =>
          places.filter((place) => metresBetween(centre, place) <= metres).length
        const inside = within(radius)
        // A micrometre less, and ten in a thousand kilometres: that is another circle.
        const isLess = count(centre, radius * (1 - 1e-11) - 1e-6) < inside
        // At a pole, say, others are at the same distance but for its last digits.
        const found = count(centre, radius)
        const isRight = found >= inside && found <= within(radius * (1 + 3e-12) + 3e-8)
        if (!isRight || !isLess) wrongCount++
      }
      t.equal(wrongCount, 0)
    }
  })
}

function haversine([lng1, lat1]: Place, [lng2, lat2]: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const latSine = Math.sin(radians(lat2 - lat1) / 2)
  const lngSine = Math.sin(radians(lng2 - lng1) / 2)
  return latSine ** 2 + Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * lngSine ** 2
}
