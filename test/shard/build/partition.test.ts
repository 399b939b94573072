import fc from 'fast-check'
import t from 'tap'
import { partition } from '../../../src/shard/build/partition.js'
import { anyRecipients, columnsOf, manyColumns } from '../../support/data/columns.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

t.test('every recipient is in one shard, and shards are equal to within one', async (t) => {
  const seed = testSeed(t)
  fc.assert(
    fc.property(anyRecipients, fc.integer({ min: 1, max: 60 }), (recipients, size) => {
      const columns = columnsOf(recipients)
      const shards = partition(columns, size)
      const sizes = shards.map((rows) => rows.length)
      const all = shards.flatMap((rows) => [...rows]).sort((left, right) => left - right)
      return (
        shards.length === Math.ceil(recipients.length / size) &&
        Math.max(...sizes) - Math.min(...sizes) <= 1 &&
        Math.max(...sizes) <= size &&
        shards.every((rows) => rows.every((row, at) => at === 0 || rows[at - 1] < row)) &&
        all.every((row, at) => row === at)
      )
    }),
    { seed, numRuns: byTier({ ci: 60, soak: 500 }) },
  )
})

t.test('a source is cut into as few shards as hold it, at the bound and one past', async (t) => {
  const cases: [recipientCount: number, size: number, sizes: number[]][] = [
    [0, 10, []],
    [1, 10, [1]],
    [10, 10, [10]],
    [11, 10, [5, 6]],
    [20, 10, [10, 10]],
    [21, 10, [7, 7, 7]],
    [3, 1, [1, 1, 1]],
  ]
  for (const [recipientCount, size, sizes] of cases) {
    const shards = partition(manyColumns(recipientCount), size)
    t.same(shards.map((rows) => rows.length).sort(), sizes, `${recipientCount} by ${size}`)
  }
})

t.test(
  'cells do not overlap: two halves are apart along the axis that is wider in metres',
  async (t) => {
    const degree = 1e7
    // 10 degrees of longitude at 80 degrees north are shorter than 3 degrees of latitude.
    const north = [0, 1, 2, 3, 4, 5, 6, 7].map((step) => ({
      phone: '+999',
      contact: '',
      lng: step * degree * 1.25,
      lat: (80 + ((step * 3) % 8) * 0.4) * degree,
    }))
    const columns = columnsOf(north)
    const [south, upper] = partition(columns, 4).map((rows) =>
      [...rows].map((row) => north[row].lat),
    )
    t.ok(Math.max(...south) < Math.min(...upper), 'cut across the latitude')
    const equator = north.map((recipient) => ({ ...recipient, lat: recipient.lat - 80 * degree }))
    const [west, east] = partition(columnsOf(equator), 4).map((rows) =>
      [...rows].map((row) => equator[row].lng),
    )
    t.ok(Math.max(...west) < Math.min(...east), 'cut across the longitude')
  },
)

t.test(
  'a hundred thousand recipients at one place are cut in the order of their rows',
  async (t) => {
    const recipient = { phone: '+999', contact: '', lng: -1_800_000_000, lat: 900_000_000 }
    const columns = columnsOf(Array.from({ length: 100_000 }, () => recipient))
    const shards = partition(columns, 30_000)
    t.same(
      shards.map((rows) => [rows[0], rows.length]),
      [
        [0, 25_000],
        [25_000, 25_000],
        [50_000, 25_000],
        [75_000, 25_000],
      ],
    )
  },
)
