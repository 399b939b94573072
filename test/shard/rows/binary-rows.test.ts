/**
 * Rows that are no text: what is written is read, as far as there is room.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../../src/limits.js'
import { decodeBinary, encodeBinary } from '../../../src/shard/rows/binary-rows.js'
import { recipientCountOf } from '../../../src/shard/runs.js'
import { testSeed } from '../../support/random/properties.js'

const LONGEST_BYTES = 9 + limits.phoneBytes
const anyUnits = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const anyPhone = fc.uint8Array({ maxLength: limits.phoneBytes })
const anyPeople = fc.array(fc.record({ lng: anyUnits, lat: anyUnits, phone: anyPhone }), {
  minLength: 1,
  maxLength: 50,
})
type People = typeof anyPeople extends fc.Arbitrary<infer Some> ? Some : never

function columnsOf(people: People) {
  const phoneOffsets = new Uint32Array(people.length + 1)
  for (const [at, { phone }] of people.entries()) {
    phoneOffsets[at + 1] = phoneOffsets[at] + phone.length
  }
  const coords = Int32Array.from(people.flatMap(({ lng, lat }) => [lng, lat]))
  return { coords, phoneOffsets, phones: Buffer.concat(people.map(({ phone }) => phone)) }
}

t.test('pieces of rows have everybody once, in order', async (t) => {
  const property = fc.property(anyPeople, fc.nat({ max: 500 }), fc.nat(), (people, more, cut) => {
    const columns = columnsOf(people)
    const middle = cut % (people.length + 1)
    const runs = [0, middle, middle, people.length]
    const pieces: Uint8Array[] = []
    let rest = Uint32Array.from(runs.slice(middle === 0 ? 2 : 0))
    while (recipientCountOf(rest) > 0) {
      const into = new Uint8Array(LONGEST_BYTES + more)
      const { rowCount, byteCount } = encodeBinary(columns, rest, into)
      t.ok(rowCount > 0 && byteCount <= into.length)
      pieces.push(into.subarray(0, byteCount))
      rest = Uint32Array.of(people.length - recipientCountOf(rest) + rowCount, people.length)
    }
    const found = decodeBinary(Buffer.concat(pieces))
    t.equal(found.recipientCount, people.length)
    t.same(found.coords, columns.coords)
    t.same(found.phoneOffsets, columns.phoneOffsets)
    t.same([...found.phones], [...columns.phones])
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 200 })
})

t.test('a row that has no room is not begun', async (t) => {
  const columns = columnsOf([
    { lng: 1, lat: 2, phone: Buffer.from('+9991') },
    { lng: 3, lat: 4, phone: Buffer.from('+9992') },
  ])
  const all = Uint32Array.of(0, 2)
  const bytesOf = (room: number) => encodeBinary(columns, all, new Uint8Array(room))
  t.same(bytesOf(28), { rowCount: 2, byteCount: 28 })
  t.same(bytesOf(27), { rowCount: 1, byteCount: 14 })
  t.same(bytesOf(13), { rowCount: 0, byteCount: 0 })
})
