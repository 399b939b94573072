/**
 * Random requests of all kinds, answered where each machine holds some of the shards, held against one machine that holds
 * all of them: the bytes are the same.
 */
import t from 'tap'
import type { Format } from '../../src/format/formats.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { withoutColumns } from '../../src/shard/layout.js'
import { holdersOf } from '../../src/snapshot/placement.js'
import { markSuppressed } from '../support/data/marked.js'
import { withRepeatedPhones } from '../support/data/repeated-phones.js'
import { randomGrid } from '../support/grids/expected-grid.js'
import { gridText } from '../support/grids/grid-of.js'
import { testSeed } from '../support/random/properties.js'
import { kindsOfWorld, randomBoundary, randomRequest } from '../support/random/requests.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from '../support/random/world.js'
import { answeredText } from '../support/service/answer-to.js'
import { localImages, serviceOf } from '../support/service/local-service.js'
import { spreadMachines } from '../support/service/spread-machines.js'
import { byTier } from '../support/tier.js'

const WORLD_COUNT = byTier({ ci: 4, soak: 1_000 })
const REQUEST_COUNT = 20
const FORMATS: readonly Format[] = ['json', 'csv', 'ndjson', 'geojson']

t.test('answers of several machines are those of one, byte for byte', async (t) => {
  const seed = testSeed(t)
  let answeredCount = 0
  let askedCount = 0
  for (let worldNumber = 0; worldNumber < WORLD_COUNT; worldNumber++) {
    const random = seededRandom((seed * 1_000_003 + worldNumber) | 0)
    const { sources, images } = worldOf(random)
    const geometry = randomBoundary(random.pick(sources).columns, random)
    const rule = createBoundaryRule(() => geometry, random.unit() < 0.2)
    const machines = ['a', 'b', 'c', 'd'].slice(0, random.between(2, 4))
    const placement = { machines, copies: random.between(1, 2) }
    const holders = holdersOf(placement, images)
    const one = serviceOf('000001-00000000', sources, images, rule)
    const [spread, ...others] = spreadMachines({
      sources,
      rule,
      holders,
      machines,
      imagesOf: (machine) =>
        images.map((image, at) => (holders[at].includes(machine) ? image : withoutColumns(image))),
    })
    const suppressed = (phone: string) => phone.charCodeAt(phone.length - 1) % 7 === 0
    // The machines have the same marks in memory.
    markSuppressed(one.shards, suppressed)
    for (let count = 0; count < REQUEST_COUNT; count++) {
      const { columns } = random.pick(sources)
      const ids = sources.map(({ id }) => id)
      const drawn = randomRequest(columns, ids, kindsOfWorld(worldNumber), random)
      const request = { ...drawn, countsOnly: random.unit() < 0.5 }
      const format = random.pick(FORMATS)
      const expected = await answeredText(one, request, format)
      const found = await answeredText(spread, request, format)
      // A budget for each machine is not one for all.
      if (expected.startsWith('TooComplex') && !found.startsWith('TooComplex')) continue
      if (!t.equal(found, expected, `world ${worldNumber}: ${JSON.stringify(request)}`)) return
      const at = random.between(0, columns.recipientCount - 1)
      const place = { lng: columns.lngs[at], lat: columns.lats[at] }
      const gridded = { ...drawn, ...randomGrid(place, random) }
      const grid = await gridText(one, gridded).catch(String)
      const what = `world ${worldNumber}: ${JSON.stringify(gridded)}`
      if (!t.equal(await gridText(spread, gridded).catch(String), grid, what)) return
      answeredCount++
    }
    askedCount += others.reduce((sum, { tasks }) => sum + tasks.length, 0)
  }
  t.ok(answeredCount > 0.9 * WORLD_COUNT * REQUEST_COUNT, `${answeredCount} were answered`)
  t.ok(askedCount > answeredCount, `${askedCount} tasks went to others`)
})

function worldOf(random: Random) {
  const globe = [...globeWorldKinds, 'antimeridian'] as const
  const kind = random.pick([...worldKinds, ...globe])
  const sources = [7, 30].map((id) => ({
    id,
    label: `Source ${id}`,
    columns: withRepeatedPhones(
      randomWorld(kind, random.between(1, 250), random),
      random.pick([0, 0.3]),
      random,
    ),
  }))
  return { sources, images: localImages(sources, random.between(10, 60)) }
}
