import t from 'tap'
import { clippedToGlobe } from '../../../src/geometry/polygon/clip-to-globe.js'
import { fineUnits } from '../../support/random/fine-coordinates.js'
import { distanceToEdges, isInOdd } from '../../support/random/flat-rings.js'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'

t.test('what is cut off at the border of the globe holds the same places of it', async (t) => {
  const random = seededRandom(testSeed(t))
  const onBorder = () => random.between(-3, 3) * 1.8e9
  let insideCount = 0
  for (let round = 0; round < 500; round++) {
    const ring = Array.from({ length: random.between(3, 9) }, () => [
      fineUnits(random.pick([random.between(-5.4e9, 5.4e9), onBorder()]), random),
      fineUnits(random.between(-1e9, 1e9), random),
    ]).flat()
    const clipped = clippedToGlobe(ring)
    t.ok(
      clipped.every((value, i) => Math.abs(value) <= (i % 2 === 0 ? 1.8e9 : 9e8)),
      'nothing is left beyond it',
    )
    for (let sample = 0; sample < 20; sample++) {
      const [lng, lat] = [random.between(-1.8e9, 1.8e9), random.between(-9e8, 9e8)]
      if (distanceToEdges([ring, clipped], lng, lat) < 2) continue
      const isInside = isInOdd([ring], lng, lat)
      if (isInside) insideCount++
      if (isInOdd([clipped], lng, lat) !== isInside) t.fail(`${lng} ${lat} in ${ring}`)
    }
  }
  t.ok(insideCount > 500, `${insideCount} places inside`)
})

t.test('a ring on the globe stays as it is, also on its border', async (t) => {
  const ring = [-1.8e9, -9e8, 1.8e9, -9e8, 1.8e9, 9e8, -1.8e9, 9e8]
  t.equal(clippedToGlobe(ring), ring)
})

t.test('nothing is left of a ring elsewhere', async (t) => {
  t.same(clippedToGlobe([1.9e9, 0, 2e9, 0, 2e9, 1e8]), [])
})
