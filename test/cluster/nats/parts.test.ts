/**
 * Long messages in parts, which may come in any order, twice, or not at all.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { PartsGatherer, partsOf } from '../../../src/cluster/nats/parts.js'
import { limits } from '../../../src/limits.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const HEAD_BYTES = 16

const message = fc.uint8Array({ maxLength: 300, size: 'max' })

t.test('a message is what its parts are, and no part is too long', (t) => {
  // With less in a part, there may be more of them than may be.
  const partBytes = fc.integer({ min: HEAD_BYTES + 2, max: 400 })
  fc.assert(
    fc.property(message, partBytes, (message, partBytes) => {
      const parts = [...partsOf(message, partBytes)]
      t.ok(parts.every(({ length }) => length <= partBytes))
      const least = Math.max(1, Math.ceil(message.length / (partBytes - HEAD_BYTES)))
      t.equal(parts.length, least)
      const gatherer = new PartsGatherer()
      const found = parts.map((part) => gatherer.add(part))
      t.ok(found.slice(0, -1).every((one) => one === undefined))
      t.same(Buffer.from(found.at(-1) as Uint8Array), Buffer.from(message))
    }),
    { seed, numRuns: 200 },
  )
  t.end()
})

/** A part in the place that a number gives it, as it comes there. */
const arrival = fc.record({
  message: fc.nat({ max: 4 }),
  part: fc.nat({ max: 9 }),
})

t.test('parts of several messages come in any order, some twice, some never', (t) => {
  let wholeCount = 0
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: HEAD_BYTES + 30, max: 400 }),
      fc.array(arrival, { maxLength: 200, size: 'max' }),
      (messages, partBytes, arrivals) => {
        const parts = messages.map((message) => [...partsOf(message, partBytes)])
        const missing = parts.map((parts) => new Set(parts.keys()))
        const gatherer = new PartsGatherer()
        for (const arrival of arrivals) {
          const at = arrival.message % messages.length
          const index = arrival.part % parts[at].length
          // It would begin anew: nobody sends a message twice.
          if (missing[at].size === 0) continue
          missing[at].delete(index)
          const found = gatherer.add(parts[at][index])
          t.equal(found !== undefined, missing[at].size === 0)
          if (found === undefined) continue
          wholeCount++
          t.same(Buffer.from(found), Buffer.from(messages[at]))
        }
      },
    ),
    { seed, numRuns: 200 },
  )
  t.ok(wholeCount > 100, `${wholeCount} messages were whole`)
  t.end()
})

t.test('what is no part is nothing, and spoils nothing', (t) => {
  const gatherer = new PartsGatherer()
  const [first, second] = partsOf(Buffer.alloc(100, 1), HEAD_BYTES + 50)
  gatherer.add(first)
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: HEAD_BYTES - 1 }),
    // Of the same message, at another place, or of another count.
    fc.tuple(fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1)).map(([index, partCount]) => {
      const part = Buffer.from(first)
      part.writeUInt32LE(index, 8)
      part.writeUInt32LE(partCount === 2 ? 3 : partCount, 12)
      return part
    }),
  )
  fc.assert(
    fc.property(garbage, (part) => {
      const isWhole = part.length >= HEAD_BYTES && Buffer.from(part).readUInt32LE(12) === 1
      if (!isWhole) t.equal(gatherer.add(part), undefined)
    }),
    { seed, numRuns: 500 },
  )
  t.same(gatherer.add(second), Buffer.alloc(100, 1))
  t.end()
})

t.test('a message has no more parts than may be', (t) => {
  const most = limits.messagePartCount
  for (const [partCount, isTaken] of [
    [most, true],
    [most + 1, false],
  ] as const) {
    const gatherer = new PartsGatherer()
    const parts = [...partsOf(Buffer.alloc(partCount), HEAD_BYTES + 1)]
    t.equal(parts.length, partCount)
    const found = parts.map((part) => gatherer.add(part)).at(-1)
    t.equal(found?.length, isTaken ? partCount : undefined)
  }
  t.end()
})

/** Parts of messages, and memory that all of them share but for their heads, so that gigabytes cost nothing. */
function sharedParts(dataBytes: number) {
  const bytes = Buffer.alloc(HEAD_BYTES + dataBytes)
  return (id: number, index: number, partCount: number): Uint8Array => {
    bytes.writeUInt32LE(id, 0)
    bytes.writeUInt32LE(index, 8)
    bytes.writeUInt32LE(partCount, 12)
    return bytes
  }
}

t.test('what is kept of messages that are not whole is bounded: the oldest are forgotten', (t) => {
  const dataBytes = 1 << 20
  const keptCount = limits.messageGatherBytes / dataBytes
  const partOf = sharedParts(dataBytes)
  for (const [count, isKept] of [
    [keptCount - 1, true],
    [keptCount, false],
  ] as const) {
    const gatherer = new PartsGatherer()
    for (let id = 0; id < count; id++) gatherer.add(partOf(id, 0, 2))
    gatherer.add(partOf(count, 0, 2))
    t.equal(gatherer.add(partOf(0, 1, 2))?.length, isKept ? 2 * dataBytes : undefined)
    t.equal(gatherer.add(partOf(count, 1, 2))?.length, 2 * dataBytes)
  }
  t.end()
})

t.test('what was whole is kept no more', (t) => {
  const dataBytes = 1 << 20
  const partOf = sharedParts(dataBytes)
  const gatherer = new PartsGatherer()
  gatherer.add(partOf(0, 0, 2))
  for (let id = 1; id < 3 * (limits.messageGatherBytes / dataBytes); id++) {
    gatherer.add(partOf(id, 0, 2))
    t.ok(gatherer.add(partOf(id, 1, 2)))
  }
  t.ok(gatherer.add(partOf(0, 1, 2)))
  t.end()
})

/** From now on, the clock is where a test puts it. */
function clockOf(t: Test): { nowMs: number } {
  const clock = { nowMs: 1_000 }
  t.intercept(performance, 'now', { value: () => clock.nowMs })
  return clock
}

t.test('a message that is not whole after a while is forgotten with the next one', (t) => {
  const clock = clockOf(t)
  const partOf = sharedParts(10)
  const gatherer = new PartsGatherer()
  gatherer.add(partOf(0, 0, 2))
  clock.nowMs += limits.messageGatherMs
  gatherer.add(partOf(1, 0, 2))
  t.ok(gatherer.add(partOf(0, 1, 2)))
  gatherer.add(partOf(2, 0, 2))
  clock.nowMs += limits.messageGatherMs + 1
  gatherer.add(partOf(3, 0, 2))
  t.equal(gatherer.add(partOf(2, 1, 2)), undefined)
  t.ok(gatherer.add(partOf(3, 1, 2)))
  t.end()
})
