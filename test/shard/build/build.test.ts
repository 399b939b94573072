import fc from 'fast-check'
import t from 'tap'
import { buildShard } from '../../../src/shard/build/build.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { anyRecipients, columnsOf, manyColumns } from '../../support/data/columns.js'
import { isKdOrder } from '../../support/data/reference-shards.js'
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
    { seed, numRuns: byTier({ ci: 80, soak: 300 }) },
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
    t.ok(shard.ids instanceof (recipientCount < 65_536 ? Uint16Array : Uint32Array))
    const texts = describe(shard)
    const isRow = (text: string, index: number) =>
      text === describeColumns(columns, shard.ids[index])
    t.ok(texts.length === recipientCount && texts.every(isRow), `${recipientCount}`)
    t.equal(new Set(shard.ids).size, recipientCount)
  }
})

t.test('the same rows give the same bytes', async (t) => {
  const build = () => buildShard(manyColumns(5_000), rowsOf(5_000), 1, 0).image
  t.ok(Buffer.from(build()).equals(build()))
})

t.test('the index is in kd order, whatever the places are', async (t) => {
  const extremes = [-1_800_000_000, 1_800_000_000]
  const places: Record<string, (row: number) => readonly [lng: number, lat: number]> = {
    scattered: (row) => [Math.imul(row, 0x9e3779b1) % 1.8e9, Math.imul(row, 0x85ebca77) % 9e8],
    ascending: (row) => [row, row],
    descending: (row) => [-row, row],
    'at one place': () => [5, 5],
    'at two places': (row) => [row & 1, 7],
    'at few places': (row) => [row % 5, row % 7],
    'with repeated places': (row) => [row % 3 === 0 ? 10 : row, row % 2 === 0 ? 10 : -row],
    'at the ends of the world': (row) => [extremes[row & 1], row % 3 === 0 ? 9e8 : -9e8],
    'in waves': (row) => [row % 1_000, (31 * row) % 977],
  }
  for (const [name, place] of Object.entries(places)) {
    for (const count of [1, 2, 64, 65, 66, 67, 129, 130, 3_000, 70_003]) {
      const image = buildShard(columnsAt(count, place), rowsOf(count), 0, 0)
      const { coords, nodeSize } = attachShard(image)
      if (!isKdOrder(coords, nodeSize)) t.fail(`${count} recipients ${name} are in kd order`)
      const Ids = count < 65_536 ? Uint16Array : Uint32Array
      const ids = new Ids(image.image.slice().buffer, 8, count)
      t.equal(new Set(ids).size, count, `${count} recipients ${name} are each there once`)
    }
  }
})

/** Without phones, of which the order says nothing. */
function columnsAt(
  recipientCount: number,
  place: (row: number) => readonly [lng: number, lat: number],
): RecipientColumns {
  const [lngs, lats] = [0, 1].map(() => new Int32Array(recipientCount))
  for (let row = 0; row < recipientCount; row++) [lngs[row], lats[row]] = place(row)
  return {
    recipientCount,
    lngs,
    lats,
    contacts: new Uint32Array(recipientCount),
    contactCount: 1,
    phoneOffsets: new Uint32Array(recipientCount + 1),
    phones: new Uint8Array(0),
  }
}

t.test('a shard without recipients is a bug of the caller', async (t) => {
  t.throws(() => buildShard(manyColumns(1), new Uint32Array(0), 0, 0), /has a recipient/)
})
