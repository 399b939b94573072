import t from 'tap'
import { syntheticColumns } from '../../src/sources/synthetic/synthetic-columns.js'
import { checkAdjoining, coordinatesOf } from '../support/adjoining.js'
import { columnsOf } from '../support/data/columns.js'
import { loadCounties, withoutDegenerateRings } from '../support/data/counties.js'
import { testSeed } from '../support/random/properties.js'

t.test('nobody is lost or found twice between areas that adjoin', async (t) => {
  const seed = testSeed(t)
  const columns = syntheticColumns({ recipientCount: 200_000, seed, countries: ['US'] })
  const totals = checkAdjoining(columns)
  t.equal(totals.wrongCount, 0)
  t.equal(totals.inStatesCount, totals.inCountiesCount)
  t.equal(totals.inNationCount, totals.inCountiesCount)
  t.ok(totals.inCountiesCount > 180_000, `${totals.inCountiesCount} in a county`)
  t.ok(totals.onEdgeCount < 100, `${totals.onEdgeCount} on an edge`)
})

t.test('whoever is on a vertex is in all areas that share it', async (t) => {
  const rings = loadCounties().flatMap(({ geometry }) => coordinatesOf(geometry).flat())
  const vertices = rings.flatMap((ring) => ring.filter((_, at) => at % 20 === 0))
  const columns = columnsOf(
    vertices.map(([lng, lat], row) => ({
      phone: `+999${row}`,
      lng: Math.round(lng * 1e7),
      lat: Math.round(lat * 1e7),
      contact: '',
    })),
  )
  const totals = checkAdjoining(columns)
  t.equal(totals.wrongCount, 0)
  // A vertex on the coast is in one county, and only those of two or more are known to be on edges.
  t.ok(totals.onEdgeCount > vertices.length / 2, `${totals.onEdgeCount} between counties`)
  t.equal(totals.inCountiesCount + totals.onEdgeCount, vertices.length, 'none is in no county')
})

t.test('one county alone has shrunk to nothing', async (t) => {
  const counties = loadCounties()
  const nothing = counties.filter(({ geometry }) => withoutDegenerateRings(geometry) === undefined)
  t.same(
    nothing.map(({ id }) => id),
    ['51610'],
  )
})
