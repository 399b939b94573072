/**
 * The plan of H3 against h3: places of one hexagon are in one cell, and few are left to h3.
 */
import { cellToLatLng, getPentagons, latLngToCell } from 'h3-js'
import t from 'tap'
import { DOUBTFUL, H3Lattice } from '../../../src/shard/grid/h3-lattice.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'

const CORNERS = getPentagons(0).map((cell) => cellToLatLng(cell))
const PLACE_COUNT = byTier({ ci: 9_000, soak: 200_000 })

for (let resolution = 0; resolution <= 15; resolution++) {
  t.test(`all places of a hexagon are in one cell, resolution ${resolution}`, async (t) => {
    const random = seededRandom(testSeed(t))
    const lattice = new H3Lattice(resolution)
    const cells = new Map<number, string>()
    let [doubtfulCount, againCount, wrongCount] = [0, 0, 0]
    // Two cells wide, so that many places meet in the same hexagons.
    const widthUnits = 4e8 / Math.sqrt(7) ** resolution
    let middle = placeOf(random)
    for (let count = 0; count < PLACE_COUNT; count++) {
      if (count % 300 === 0) middle = placeOf(random)
      const near = (units: number) => Math.round(units + (random.unit() - 0.5) * widthUnits)
      const lng = clamp(near(middle.lng), 1.8e9)
      const lat = clamp(near(middle.lat), 9e8)
      const hexagon = lattice.hexagonAt(lng, lat)
      if (hexagon === DOUBTFUL) {
        doubtfulCount++
        continue
      }
      const cell = latLngToCell(lat / 1e7, lng / 1e7, resolution)
      const known = cells.get(hexagon)
      if (known !== undefined) againCount++
      if (known !== undefined && known !== cell) wrongCount++
      cells.set(hexagon, cell)
    }
    t.equal(wrongCount, 0, `of ${againCount}`)
    t.ok(againCount > PLACE_COUNT / 2, `${againCount} places were in known hexagons`)
    t.ok(doubtfulCount < PLACE_COUNT / 100, `${doubtfulCount} were left to h3`)
  })
}

/** Everywhere, also around the corners of faces, on the way from one to another, and at the poles. */
function placeOf(random: Random): { lng: number; lat: number } {
  if (random.unit() < 0.3) {
    const [from, to] = [random.pick(CORNERS), random.pick(CORNERS)]
    const share = random.pick([0, 0, random.unit()])
    const [lat, lng] = from.map((degrees, at) => degrees + share * (to[at] - degrees))
    return { lng: lng * 1e7, lat: lat * 1e7 }
  }
  const lat = random.unit() < 0.05 ? 9e8 * random.pick([-1, 1]) : random.between(-9e8, 9e8)
  return { lng: random.between(-1.8e9, 1.8e9), lat }
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(-most, value))
}
