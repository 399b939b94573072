/**
 * The encoder in WebAssembly writes the bytes of the one in TypeScript.
 *
 * @module
 */
import { threadId } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../../src/limits.js'
import { createRooms, type Room } from '../../../src/shard/arena.js'
import { buildShard } from '../../../src/shard/build/build.js'
import { partition } from '../../../src/shard/build/partition.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { encodeRows, rowBytes } from '../../../src/shard/rows/encode-rows.js'
import { prefixOf, type RowFormat, rowBytesMax } from '../../../src/shard/rows/row-format.js'
import { columnsOf, type TestRecipient } from '../../support/data/columns.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'

const OTHER_THREAD = -1
const UNTOUCHED = 0xaa
const ROOM_BYTES = 4_194_304
/** One room for all small shards: memory of arenas comes back late. */
const [room] = createRooms([ROOM_BYTES], 1)

/** Enough for the rows of each test. */
const LARGEST_BYTES = 4_000_000
/** What the encoders write into, one each. */
const outputs = [0, 1].map(() => new Uint8Array(new SharedArrayBuffer(LARGEST_BYTES + 64)))
const allRows = new Uint8Array(2 * LARGEST_BYTES)

const LINES: RowFormat = { kind: 'ndjson', prefix: '{"SourceId":2147483647,"Number":"' }
const RECORDS: RowFormat = { kind: 'csv', prefix: '7,Anwohner,' }
const FEATURES: RowFormat = {
  kind: 'geojson',
  prefix: ',{"type":"Feature","properties":{"SourceId":2147483647,"Number":"',
  isContinued: false,
}
const formats: readonly RowFormat[] = [{ kind: 'json' }, { kind: 'jsv' }, LINES, RECORDS, FEATURES]

const signs = ['"', '\\', ',', ':', '[', ']', '{', '}', ' ', '|', 'é', '漢', '😀', '+', '7']

/** Also of no bytes, blank, and as long as one vector, or more. */
const anyPhone: fc.Arbitrary<string> = fc
  .oneof(
    fc.integer({ min: 0, max: 999_999_999 }).map((value) => `+999${value}`),
    fc.string({ unit: fc.constantFrom(...signs), maxLength: limits.phoneBytes, size: 'max' }),
    fc.string({ unit: fc.constantFrom('0', '1', '-', ' '), maxLength: 20, size: 'max' }),
    fc.integer({ min: 0, max: limits.phoneBytes }).map((size) => '7'.repeat(size)),
    fc.integer({ min: 1, max: 18 }).map((size) => '"'.padStart(size, '7')),
    fc.constantFrom('', ' ', '    ', ' '.repeat(16), '"'.repeat(64), '[1]', '{1}', ' "', '\\'),
  )
  .filter((phone) => Buffer.byteLength(phone) <= limits.phoneBytes)

const anyUnits = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: -most, max: most }),
    fc.constantFrom(0, 1, -1, 9, -9, most, -most, most - 1, 1 - most, 9_999_999, -9_999_999),
    // Of fewer decimals, down to none.
    fc
      .tuple(fc.integer({ min: -most, max: most }), fc.integer({ min: 1, max: 8 }))
      .map(([units, zeros]) => Math.trunc(units / 10 ** zeros) * 10 ** zeros),
  )

const anyRecipients: fc.Arbitrary<TestRecipient[]> = fc.array(
  fc.record({
    phone: anyPhone,
    lng: anyUnits(1_800_000_000),
    lat: anyUnits(900_000_000),
    contact: fc.constant(''),
  }),
  { minLength: 1, maxLength: 200, size: 'max' },
)

t.test('rows are the same to the byte, whatever runs and room there are', async (t) => {
  const property = fc.property(
    anyRecipients,
    fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60, size: 'max' }),
    fc.constantFrom(...formats),
    fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 40_000 })),
    fc.integer({ min: 0, max: 9 }),
    (recipients, steps, format, moreBytes, byteOffset) => {
      const shard = inArena(columnsOf(recipients))
      const runs = runsOf(steps, shard.recipientCount)
      const byteCount = rowBytesMax(format.kind, prefixOf(format).length) + moreBytes
      return agree(shard, runs, format, byteCount, byteOffset)
    },
  )
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 150, soak: 5_000 }) })
})

t.test('bytes are counted as they are written, by both encoders', async (t) => {
  const property = fc.property(
    anyRecipients,
    fc.array(fc.integer({ min: 0, max: 90 }), { maxLength: 60, size: 'max' }),
    fc.constantFrom(...formats),
    (recipients, steps, format) => {
      const shard = inArena(columnsOf(recipients))
      return isCounted(shard, runsOf(steps, shard.recipientCount), format)
    },
  )
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 150, soak: 10_000 }) })
})

t.test('a buffer without room for a row gets none', async (t) => {
  const shard = inArena(columnsOf([{ phone: '+9991', lng: 0, lat: 0, contact: '' }]))
  for (const format of formats) {
    const rowBytes = rowBytesMax(format.kind, prefixOf(format).length)
    const encode = (byteCount: number) =>
      encodeRows(shard, Uint32Array.of(0, 1), format, new Uint8Array(byteCount)).rowCount
    t.equal(encode(rowBytes), 1)
    t.equal(encode(rowBytes - 1), 0)
    t.equal(encode(0), 0)
  }
})

t.test('prefixes of any length are whole', async (t) => {
  const shard = inArena(randomColumns(300, seededRandom(testSeed(t))))
  for (let byteCount = 0; byteCount < 600; byteCount += byteCount < 80 ? 1 : 13) {
    const prefix = 'abcdefghij'.repeat(60).slice(0, byteCount)
    const all = Uint32Array.of(0, shard.recipientCount)
    for (const format of [LINES, RECORDS, FEATURES]) {
      t.ok(agree(shard, all, { ...format, prefix }, 400_000), `${format.kind} ${byteCount}`)
      t.ok(isCounted(shard, all, { ...format, prefix }), `${format.kind} ${byteCount}`)
    }
  }
})

t.test('more runs than are handed over at a time come out whole', async (t) => {
  const shard = inArena(randomColumns(40_000, seededRandom(testSeed(t))))
  const runs = Uint32Array.from({ length: 2 * 20_000 }, (_, i) => i)
  for (const format of formats) {
    t.ok(agree(shard, runs, format, LARGEST_BYTES), format.kind)
    t.ok(isCounted(shard, runs, format), format.kind)
  }
})

t.test('many rows are the same to the byte in every format', async (t) => {
  const recipientCount = byTier({ ci: 60_000, soak: 1_000_000 })
  const columns = randomColumns(recipientCount, seededRandom(testSeed(t)))
  const shard = putInto(createRooms([64 * recipientCount], 1)[0], columns)
  for (const format of formats) {
    for (let start = 0; start < recipientCount; start += 20_000) {
      const runs = Uint32Array.of(start, start + 20_000)
      const is = agree(shard, runs, format, LARGEST_BYTES) && isCounted(shard, runs, format)
      t.ok(is, `${format.kind} from ${start}`)
    }
  }
})

t.test('nothing is read behind the end of the memory', async (t) => {
  const columns = columnsOf(
    ['+9991', '', '7'].map((phone, lat) => ({ phone, lng: 1, lat, contact: '' })),
  )
  const [room] = createRooms([65_536], 1)
  const { arena, bytes } = room
  const shard = putInto(room, columns)
  const all = Uint32Array.of(0, 3)
  for (let spareBytes = 0; spareBytes < 40; spareBytes++) {
    const phones = bytes.subarray(
      bytes.length - spareBytes - shard.phones.length,
      bytes.length - spareBytes,
    )
    t.equal(phones.byteOffset + phones.length + spareBytes, arena.memory.buffer.byteLength)
    phones.set(shard.phones)
    const moved = { ...shard, phones }
    for (const format of formats) {
      const { same, isOwner } = compare(moved, all, format, 2_000)
      t.ok(same, `${spareBytes}`)
      t.ok(isCounted(moved, all, format), `${spareBytes}`)
      t.equal(isOwner, spareBytes >= 16, 'where a vector does not fit, the other encoder writes')
    }
  }
})

t.test('a thread without a zone writes the same', async (t) => {
  const columns = randomColumns(1_000, seededRandom(testSeed(t)))
  const shard = putInto(createRooms([ROOM_BYTES], 1)[0], columns)
  shard.arena?.zoneOwners.fill(OTHER_THREAD)
  for (const format of formats) {
    const { same, isOwner } = compare(shard, Uint32Array.of(0, 1_000), format, 200_000)
    t.ok(same, format.kind)
    t.notOk(isOwner)
  }
  t.same([...(shard.arena?.zoneOwners ?? [])], [OTHER_THREAD])
})

function inArena(columns: RecipientColumns): Shard {
  return putInto(room, columns)
}

function putInto({ arena, bytes }: Room, columns: RecipientColumns): Shard {
  const [rows] = partition(columns, columns.recipientCount)
  const image = buildShard(columns, rows, 1, 0)
  bytes.set(image.image)
  // What is read behind the last phone is not of another shard, and must not matter.
  bytes.fill(0xff, image.image.length, image.image.length + 64)
  return attachShard({ ...image, image: bytes.subarray(0, image.image.length), arena })
}

function agree(
  shard: Shard,
  runs: Uint32Array,
  format: RowFormat,
  byteCount: number,
  byteOffset = 0,
): boolean {
  const { same, isOwner } = compare(shard, runs, format, byteCount, byteOffset)
  return same && isOwner
}

/** Whether both encoders do the same, and whether this thread has a zone to do it in. */
function compare(
  shard: Shard,
  runs: Uint32Array,
  format: RowFormat,
  byteCount: number,
  byteOffset = 0,
): { same: boolean; isOwner: boolean } {
  const [fast, plain] = [shard, { ...shard, arena: null }].map((each, at) => {
    const bytes = outputs[at].subarray(0, byteCount + byteOffset + 8).fill(UNTOUCHED)
    const into = bytes.subarray(byteOffset, byteOffset + byteCount)
    return { written: encodeRows(each, runs, format, into), bytes }
  })
  const end = byteOffset + plain.written.byteCount
  return {
    same:
      fast.written.rowCount === plain.written.rowCount &&
      fast.written.byteCount === plain.written.byteCount &&
      Buffer.compare(fast.bytes.subarray(0, end), plain.bytes.subarray(0, end)) === 0 &&
      // What lies behind the rows is somebody else's.
      fast.bytes.subarray(end, end + 64).every((byte) => byte === UNTOUCHED),
    isOwner: shard.arena?.zoneOwners.includes(threadId + 1) ?? false,
  }
}

/** Whether both encoders say beforehand how many bytes the rows of all runs take. */
function isCounted(shard: Shard, runs: Uint32Array, format: RowFormat): boolean {
  const plain = { ...shard, arena: null }
  const { byteCount } = encodeRows(plain, runs, format, allRows)
  return rowBytes(shard, runs, format) === byteCount && rowBytes(plain, runs, format) === byteCount
}

/** Runs and gaps in turn. */
function runsOf(steps: readonly number[], recipientCount: number): Uint32Array {
  const bounds: number[] = []
  let at = 0
  for (const step of steps) {
    at = Math.min(at + step, recipientCount)
    bounds.push(at)
  }
  return Uint32Array.from(bounds.slice(0, bounds.length & ~1))
}

/** Places anywhere, of any number of decimals; most phones are plain, some are anything. */
function randomColumns(recipientCount: number, random: Random): RecipientColumns {
  const units = (most: number) => {
    const unit = 10 ** Math.max(0, random.between(-8, 8))
    return Math.trunc(random.between(-most, most) / unit) * unit
  }
  const phones = Buffer.alloc(limits.phoneBytes * recipientCount)
  const phoneOffsets = new Uint32Array(recipientCount + 1)
  for (let row = 0; row < recipientCount; row++) {
    const phone = random.unit() < 0.9 ? `+999${random.between(0, 99_999_999)}` : anySigns(random)
    phoneOffsets[row + 1] = phoneOffsets[row] + phones.write(phone, phoneOffsets[row])
  }
  return {
    recipientCount,
    lngs: new Int32Array(recipientCount).map(() => units(1_800_000_000)),
    lats: new Int32Array(recipientCount).map(() => units(900_000_000)),
    contacts: new Uint32Array(recipientCount),
    contactCount: 1,
    phoneOffsets,
    phones: phones.subarray(0, phoneOffsets[recipientCount]),
  }
}

function anySigns(random: Random): string {
  const length = random.between(1, 16)
  return Array.from({ length }, () => random.pick(signs)).join('')
}
