import {
  appendFileSync,
  cpSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { auditFileNumbers, auditPath, readAudit } from '../../src/audit/directory.js'
import { entryOf } from '../../src/audit/entry.js'
import { verifyAudit } from '../../src/audit/verify.js'
import { AuditWriter } from '../../src/audit/writer.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const entry = (note: number) => entryOf({ event: 'service', phase: 'test', note })

async function writer(
  t: Test,
  { keepDays, fileBytes }: { keepDays?: number; fileBytes?: number } = {},
) {
  const { auditFileBytes } = limits
  Object.assign(limits, { auditFileBytes: fileBytes ?? auditFileBytes })
  t.teardown(() => Object.assign(limits, { auditFileBytes }))
  const directory = join(temporaryDirectory(t), 'audit')
  const made = new AuditWriter({ directory, keepDays })
  t.teardown(() => made.release())
  made.prepare()
  return { directory, writer: made }
}

t.test('lines are chained, over files, days and writers', async (t) => {
  let nowMs = Date.parse('2026-11-22T23:59:58.000Z')
  t.intercept(Date, 'now', { value: () => nowMs })
  const { directory, writer: first } = await writer(t, { fileBytes: 1_000 })
  t.equal(first.append([entry(1), entry(2)]).first, 1)
  t.equal(first.append([entry(3)]).first, 3)
  const second = new AuditWriter({ directory })
  t.equal(second.append([entry(4)]).first, 4)
  t.equal(first.append([entry(5)]).first, 5)
  t.same(auditFileNumbers(directory), [1], 'exactly as much as there is room for')
  first.append([entry(6), entry(7)])
  t.same(auditFileNumbers(directory), [1, 2], 'a full file')
  nowMs = Date.parse('2026-11-23T00:00:00.000Z')
  second.append([entry(8)])
  t.same(auditFileNumbers(directory), [1, 2, 3], 'another day')
  await second.release()
  const { damage, lineCount, fileCount, last } = await verifyAudit(directory)
  t.same(
    { damage, lineCount, fileCount, last: last.sequence },
    {
      damage: undefined,
      lineCount: 8,
      fileCount: 3,
      last: 8,
    },
  )
  t.same(
    [...readAudit(directory)].map(({ line }) => line.note),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
  t.equal([...readAudit(directory, '2026-11-23')].length, 1)
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(auditPath(directory, 1)).mode & 0o777, 0o600)
})

t.test('what a dead writer left is taken as far as it goes on with the chain', async (t) => {
  const { directory, writer: dead } = await writer(t)
  dead.append([entry(1)])
  const path = auditPath(directory, 1)
  await dead.release()
  const next = new AuditWriter({ directory })
  appendFileSync(path, '{"sequence":2,"previous":"torn')
  const torn = await verifyAudit(directory)
  t.same([torn.damage, torn.behindBytes], [undefined, 30], 'a writer may be at it')
  t.equal(next.append([entry(2)]).first, 3)
  t.match([...readAudit(directory)].at(1)?.line, {
    phase: 'recovered',
    takenLineCount: 0,
    cutBytes: 30,
  })
  await next.release()
  t.equal((await verifyAudit(directory)).damage, undefined)
})

t.test('lines behind the head are taken, also those of a file behind its own', async (t) => {
  const { directory, writer: ahead } = await writer(t, { fileBytes: 400 })
  ahead.append([entry(1)])
  await ahead.release()
  // The head as it was, and the files as they were written then.
  const kept = `${directory}-head`
  cpSync(join(directory, 'head'), kept, { recursive: true })
  const more = new AuditWriter({ directory })
  for (const note of [2, 3, 4, 5, 6]) more.append([entry(note)])
  await more.release()
  t.ok(auditFileNumbers(directory).length >= 3)
  rmSync(join(directory, 'head'), { recursive: true })
  cpSync(kept, join(directory, 'head'), { recursive: true })
  const next = new AuditWriter({ directory })
  t.equal(next.append([entry(7)]).first, 8)
  await next.release()
  const { damage, lineCount } = await verifyAudit(directory)
  t.same({ damage, lineCount }, { damage: undefined, lineCount: 8 })
  t.match([...readAudit(directory)].at(6)?.line, { phase: 'recovered', takenLineCount: 5 })
})

t.test('a file that was cut short is left, and the next one begun', async (t) => {
  const { directory, writer: going } = await writer(t)
  going.append([entry(1), entry(2)])
  truncateSync(auditPath(directory, 1), 20)
  going.append([entry(3)])
  t.same(auditFileNumbers(directory), [1, 2])
  t.match([...readAudit(directory)][0].line, { sequence: 3, phase: 'damaged', file: 1 })
  const { damage } = await verifyAudit(directory)
  t.match(damage, { file: 'audit-000001.jsonl', line: 1 })
})

t.test('old files go when the operator says so, and the chain begins later', async (t) => {
  let nowMs = Date.parse('2026-01-01T12:00:00.000Z')
  t.intercept(Date, 'now', { value: () => nowMs })
  const { directory, writer: keeping } = await writer(t, { keepDays: 30 })
  for (let day = 0; day < 40; day++) {
    keeping.append([entry(day)])
    nowMs += 86_400_000
  }
  // The last one was written on day 39: the first that is younger than 30 days follows the one of day 8.
  t.same(
    auditFileNumbers(directory),
    Array.from({ length: 32 }, (_, i) => i + 9),
  )
  const { damage, lineCount, firstSequence } = await verifyAudit(directory)
  t.same(
    { damage, lineCount, firstSequence },
    { damage: undefined, lineCount: 32, firstSequence: 9 },
  )
  rmSync(auditPath(directory, 9))
  t.match((await verifyAudit(directory)).damage, {
    file: 'audit-000009.jsonl',
    problem: 'is missing',
  })
})

t.test('a directory whose head is gone is no new one', async (t) => {
  const { directory, writer: first } = await writer(t)
  first.append([entry(1)])
  await first.release()
  rmSync(join(directory, 'head'), { recursive: true })
  const next = new AuditWriter({ directory })
  t.throws(() => next.append([entry(2)]), /no head of the chain/)
  t.match((await verifyAudit(directory)).damage, { file: 'head' })
})

t.test('a directory that is replaced under a writer is noticed', async (t) => {
  const { directory, writer: first } = await writer(t)
  first.append([entry(1)])
  rmSync(directory, { recursive: true })
  t.throws(() => first.append([entry(2)]))
  await first.release()
  first.prepare()
  t.equal(first.append([entry(1)]).first, 1)
})

/** Whatever somebody does to the files, it is found. */
const ROUND_COUNT = byTier({ ci: 150, soak: 2_000 })

t.test(`${ROUND_COUNT} random damages are found`, async (t) => {
  const { directory, writer: made } = await writer(t, { fileBytes: 1_500 })
  for (let note = 0; note < 20; note++) made.append([entry(note), entry(note)])
  await made.release()
  const numbers = auditFileNumbers(directory)
  const files = new Map(
    numbers.map((number) => [number, readFileSync(auditPath(directory, number))]),
  )
  const restore = () => {
    for (const [number, bytes] of files) writeFileSync(auditPath(directory, number), bytes)
  }
  t.equal((await verifyAudit(directory)).damage, undefined)
  const place = fc.record({
    number: fc.constantFrom(...numbers),
    // Of doubles, nearly all are next to 0.
    at: fc.nat(999_999).map((part) => part / 1_000_000),
  })
  const damages = fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), place, bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('cut' as const), place }),
    fc.record({ kind: fc.constant('removeLine' as const), place }),
    fc.record({ kind: fc.constant('swapLines' as const), place }),
    fc.record({ kind: fc.constant('removeFile' as const), place }),
    fc.record({ kind: fc.constant('repeatLine' as const), place }),
  )
  const property = fc.asyncProperty(damages, async (damage) => {
    const { number, at } = damage.place
    const bytes = Buffer.from(files.get(number) as Buffer)
    const path = auditPath(directory, number)
    const lines = bytes.toString('latin1').split('\n').slice(0, -1)
    const index = Math.floor(at * lines.length)
    const offset = Math.floor(at * bytes.length)
    let named: number | undefined
    if (damage.kind === 'flip') {
      bytes[offset] ^= 1 << damage.bit
      named = bytes.subarray(0, offset).filter((byte) => byte === 0x0a).length + 1
      // A line end that is gone or new makes other lines.
      const isOfLine = bytes[offset] !== 0x0a && (bytes[offset] ^ (1 << damage.bit)) !== 0x0a
      if (!isOfLine) named = undefined
      writeFileSync(path, bytes)
    } else if (damage.kind === 'cut') {
      writeFileSync(path, bytes.subarray(0, offset))
    } else if (damage.kind === 'removeFile') {
      rmSync(path)
    } else {
      if (damage.kind === 'removeLine') lines.splice(index, 1)
      if (damage.kind === 'repeatLine') lines.splice(index, 0, lines[index])
      if (damage.kind === 'swapLines') {
        const [line] = lines.splice(index, 1)
        lines.splice(index === 0 ? 1 : index - 1, 0, line)
      }
      writeFileSync(path, lines.map((line) => `${line}\n`).join(''), 'latin1')
    }
    const verdict = await verifyAudit(directory)
    restore()
    // Behind the last line, which the head knows, a line is one of a writer that died: it is no part.
    if (verdict.damage === undefined) return damage.kind === 'repeatLine' && verdict.behindBytes > 0
    if (named === undefined) return true
    return verdict.damage.line === named && verdict.damage.file === `audit-00000${number}.jsonl`
  })
  const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.comment(`seed ${seed}`)
  const result = await fc.check(property, { seed, numRuns: ROUND_COUNT })
  t.notOk(result.failed, JSON.stringify(result.counterexample))
})
