import fc from 'fast-check'
import t from 'tap'
import { buildShard } from '../../../src/shard/build/build.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { anyRecipients, columnsOf, manyColumns } from '../../support/data/columns.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

const decoder = new TextDecoder()

function rowsOf(recipientCount: number): Uint32Array {
  return Uint32Array.from({ length: recipientCount }, (_, row) => row)
}

/** Each recipient as one text. */
function describe({ coords, contacts, phoneOffsets, phones }: Shard): string[] {
  return Array.from(contacts, (contact, index) => {
    const phone = phones.subarray(phoneOffsets[index], phoneOffsets[index + 1])
    return `${coords[2 * index]} ${coords[2 * index + 1]} ${contact} ${decoder.decode(phone)}`
  })
}

function describeColumns(columns: RecipientColumns, row: number): string {
  const { lngs, lats, contacts, phones, phoneOffsets } = columns
  const phone = phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])
  return `${lngs[row]} ${lats[row]} ${contacts[row]} ${decoder.decode(phone)}`
}

t.test('a shard holds the recipients of its rows, whole, in the order of its index', async (t) => {
  const seed = testSeed(t)
  fc.assert(
    fc.property(anyRecipients, fc.integer({ min: 1, max: 5 }), (recipients, step) => {
      const columns = columnsOf(recipients)
      const rows = rowsOf(recipients.length).filter((row) => row % step === 0)
      const image = buildShard(columns, rows, 7, 3)
      const shard = attachShard(image)
      const ids = new Uint16Array(image.image.buffer, 8, rows.length)
      const expected = Array.from(ids, (id) => describeColumns(columns, rows[id]))
      return (
        new Set(ids).size === rows.length &&
        describe(shard).every((text, index) => text === expected[index])
      )
    }),
    { seed, numRuns: byTier({ short: 80, long: 300 }) },
  )
})

t.test('a shard says whose it is and has the tightest bounds', async (t) => {
  const recipients = [
    [-1_800_000_000, 5],
    [1_800_000_000, 900_000_000],
    [0, -900_000_000],
  ].map(([lng, lat]) => ({ phone: '+999', contact: '', lng, lat }))
  const image = buildShard(columnsOf(recipients), rowsOf(3), 7, 3)
  t.match(image, { sourceId: 7, regionIndex: 3, recipientCount: 3 })
  const box = { minLng: -1_800_000_000, minLat: -900_000_000, maxLng: 1_800_000_000, maxLat: 9e8 }
  t.same(image.box, box)
  t.equal(attachShard(image).nodeSize, 64)
})

t.test('ids are 16 bits wide up to 65,535 recipients and 32 bits beyond', async (t) => {
  for (const recipientCount of [65_535, 65_536]) {
    const columns = manyColumns(recipientCount)
    const shard = attachShard(buildShard(columns, rowsOf(recipientCount), 0, 0))
    const found = describe(shard).sort()
    const expected = Array.from(rowsOf(recipientCount), (row) => describeColumns(columns, row))
    t.strictSame(found.join(), expected.sort().join(), `${recipientCount}`)
  }
})

t.test('the same rows give the same bytes', async (t) => {
  const build = () => buildShard(manyColumns(5_000), rowsOf(5_000), 1, 0).image
  t.ok(Buffer.from(build()).equals(build()))
})

t.test('a shard without recipients is a bug of the caller', async (t) => {
  t.throws(() => buildShard(manyColumns(1), new Uint32Array(0), 0, 0), /has a recipient/)
})
