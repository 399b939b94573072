import {
  appendFileSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { type Change, identityOf } from '../../src/changes/change.js'
import { withoutAdvice } from '../../src/errors.js'
import { type JournalBatch, prepareBatch } from '../../src/journal/batch.js'
import { JournalDamaged, JournalGone } from '../../src/journal/damaged.js'
import { journalFileNumbers, journalPath, positionPath } from '../../src/journal/files.js'
import { JournalReader } from '../../src/journal/reader.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { JournalWriter, type Settled } from '../../src/journal/writer.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** Of a batch with an id of one character that deletes one. */
const RECORD_BYTES = 112 + 1 + 4

const deletion = (identity: string): Change => ({ op: 'delete', identity })

const batch = (id: string, changes: readonly Change[] = [deletion(id)], sourceId = 1) =>
  prepareBatch({ sourceId, batchId: id, changes })

type WriterOptions = ConstructorParameters<typeof JournalWriter>[0]

function journal(t: Test, options: Partial<WriterOptions> = {}) {
  const directory = join(temporaryDirectory(t), 'journal')
  const writer = (more: Partial<WriterOptions> = {}) => {
    const made = new JournalWriter({ directory, ...options, ...more })
    t.teardown(() => made.release())
    return made
  }
  const reader = () => {
    const made = new JournalReader(directory)
    t.teardown(() => made.close())
    return made
  }
  return { directory, writer, reader, first: started(writer()) }
}

function started(writer: JournalWriter): JournalWriter {
  writer.prepare()
  return writer
}

function idsIn(batches: Iterable<JournalBatch>): string[] {
  return [...batches].map(({ batchId }) => batchId)
}

/** The error that something throws. */
function thrown<E extends Error>(kind: new (...values: never[]) => E, work: () => unknown): E {
  try {
    work()
  } catch (fault) {
    if (fault instanceof kind) return fault
    throw fault
  }
  throw new Error(`there was no ${kind.name}`)
}

t.test('batches come back as they were written, from any sequence on', async (t) => {
  const upsert = (phone: string, key: string | undefined): Change => {
    const contact = 'c 1'
    const identity = key ?? identityOf(phone, contact)
    return { op: 'upsert', identity, phone, lng: -1_800_000_000, lat: 900_000_000, contact, key }
  }
  const { directory, first, reader } = journal(t, { nowMs: () => 1_790_000_000_123 })
  const changes = [upsert('+99955501', undefined), upsert('+99955502', 'k\0é'), deletion('k')]
  t.same(first.append([batch('a', changes, limits.sourceIdMax), batch('b', [])]), [
    { kind: 'written', sequence: 1 },
    { kind: 'written', sequence: 2 },
  ])
  t.same(first.append([]), [])
  t.same(first.append([batch('c')]), [{ kind: 'written', sequence: 3 }])
  const reading = reader()
  t.same(
    Array.from(reading.read(0), ({ seal }) => seal),
    Array.from(reading.records(0), ({ hash }) => Number.parseInt(hash.slice(0, 8), 16)),
  )
  t.strictSame(
    Array.from(reading.read(0), ({ seal: _, ...batch }) => batch),
    [
      {
        sequence: 1,
        sourceId: limits.sourceIdMax,
        batchId: 'a',
        timeMs: 1_790_000_000_123,
        changes,
      },
      { sequence: 2, sourceId: 1, batchId: 'b', timeMs: 1_790_000_000_123, changes: [] },
      {
        sequence: 3,
        sourceId: 1,
        batchId: 'c',
        timeMs: 1_790_000_000_123,
        changes: [deletion('c')],
      },
    ],
  )
  t.same(idsIn(reading.read(1)), ['b', 'c'])
  t.same(idsIn(reading.read(3)), [])
  t.same(idsIn(reader().read(2)), ['c'])
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(journalPath(directory, 1)).mode & 0o777, 0o600)
  t.equal(statSync(positionPath(directory)).mode & 0o777, 0o600)
  t.match(await verifyJournal(directory), {
    batchCount: 3,
    changeCount: 4,
    firstSequence: 1,
    last: { sequence: 3, hash: reading.head().hash },
    behindBytes: 0,
  })
  const damaged = thrown(JournalDamaged, () => [...reading.read(4)])
  t.equal(damaged.damage.sequence, 4)
  t.equal(withoutAdvice(damaged.message), damaged.found)
  t.match(damaged.advice, 'from a backup')
})

t.test('a journal that is not there yet has no batches', async (t) => {
  const reader = new JournalReader(join(temporaryDirectory(t), 'none'))
  t.same([...reader.read(0)], [])
  t.equal(reader.head().sequence, 0)
})

t.test('a batch that was written is not written again', (t) => {
  const { first, writer, reader } = journal(t, { knownBatchCount: 3, unindexedCount: 2 })
  first.append([batch('a'), batch('b')])
  const same = { kind: 'repeated', sequence: 1 }
  t.same(first.append([batch('a'), batch('c'), batch('c')]), [
    same,
    { kind: 'written', sequence: 3 },
    { kind: 'repeated', sequence: 3 },
  ])
  t.same(started(writer()).append([batch('a')]), [same], 'in another process')
  t.same(first.append([batch('a', [deletion('other')])]), [{ kind: 'conflicting', sequence: 1 }])
  t.same(first.append([batch('d'), batch('d', [])]), [
    { kind: 'written', sequence: 4 },
    { kind: 'conflicting', sequence: 4 },
  ])
  t.same(first.append([batch('b')]), [{ kind: 'repeated', sequence: 2 }], 'the last one known')
  t.same(first.append([batch('a')]), [{ kind: 'written', sequence: 5 }], 'forgotten')
  t.same(started(writer()).append([batch('b')]), [{ kind: 'written', sequence: 6 }])
  t.same(first.append([batch('b', [deletion('b')], 2)]), [{ kind: 'written', sequence: 7 }])
  t.same(idsIn(reader().read(0)), ['a', 'b', 'c', 'd', 'a', 'b', 'b'])
  t.end()
})

t.test('bounds', (t) => {
  const { first } = journal(t)
  const most = limits.journalBatchIdBytes
  t.equal(first.append([batch('é'.repeat(most / 2))])[0].sequence, 1)
  t.throws(() => batch(`${'é'.repeat(most / 2)}x`), /1 to 128 bytes: it has 129/)
  t.throws(() => batch(''), RangeError)
  for (const id of [-1, 0.5, limits.sourceIdMax + 1]) t.throws(() => batch('a', [], id), RangeError)
  const wrong = {
    ...(deletion('x') as object),
    op: 'upsert',
    phone: 'a',
    contact: '',
    lng: 0,
    lat: 0,
  }
  t.throws(() => batch('a', [wrong as Change]), /identity/)
  // An array of one array of one text of more than 64 KiB takes seven bytes more than the text.
  const text = 'x'.repeat(limits.journalRecordBytes - 112 - 1 - 7)
  const large = batch('1', [deletion(text)])
  thrown(RangeError, () => batch('1', [deletion(`${text}x`)]))
  t.equal(limits.journalGroupBytes, 2 * limits.journalRecordBytes)
  const other = batch('2', [deletion(text)])
  t.throws(() => first.append([large, other, batch('3')]), /a group of batches may take/)
  t.same(
    first.append([large, other]).map(({ sequence }) => sequence),
    [2, 3],
  )
  t.end()
})

t.test('a file is as large as it may be, and not larger', (t) => {
  const { first, directory } = journal(t, { fileBytes: 3 * RECORD_BYTES + 4 })
  const size = () => statSync(journalPath(directory, 1)).size
  first.append([batch('a')])
  t.equal(size(), RECORD_BYTES, 'the header, an id, and an array of one array of one text')
  first.append([batch('b')])
  first.append([batch('ccc', [deletion('ccc')])])
  t.same([size(), journalFileNumbers(directory)], [3 * RECORD_BYTES + 4, [1]])
  first.append([batch('d')])
  t.same(journalFileNumbers(directory), [1, 2])
  t.end()
})

t.test('two writers in turn, groups, repeats, new processes, truncation: as a model', async (t) => {
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('append' as const),
        by: fc.nat(1),
        ids: fc.array(fc.nat(60), { maxLength: 5 }),
        size: fc.nat(200),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew' as const), by: fc.nat(1) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('truncate' as const),
        by: fc.nat(1),
        part: fc.nat(1_000_000).map((share) => share / 1_000_000),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        part: fc.nat(1_000_000).map((share) => share / 1_000_000),
      }),
    },
  )
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 60 }),
    fc.integer({ min: 5, max: 40 }),
    async (steps, knownBatchCount) => {
      const directory = join(temporaryDirectory(t), 'journal')
      const made = () =>
        started(
          new JournalWriter({ directory, fileBytes: 900, unindexedCount: 5, knownBatchCount }),
        )
      const writers = [made(), made()]
      const reader = new JournalReader(directory)
      const model: { id: string; size: number }[] = []
      let kept = 0
      try {
        for (const each of steps) {
          if (each.kind === 'renew') {
            await writers[each.by].release()
            writers[each.by] = made()
          } else if (each.kind === 'append') {
            const { ids, size } = each
            const last = model.length
            const expected = ids.map((number) => {
              const id = `id ${number}`
              const from = Math.max(0, last - knownBatchCount)
              const at = model.findLastIndex((other, index) => other.id === id && index >= from)
              if (at < 0) {
                model.push({ id, size })
                return { kind: 'written', sequence: model.length }
              }
              const kind = model[at].size === size ? 'repeated' : 'conflicting'
              return { kind, sequence: at + 1 }
            })
            const outcomes = writers[each.by].append(
              ids.map((number) => batch(`id ${number}`, [deletion('x'.repeat(size))])),
            )
            if (JSON.stringify(outcomes) !== JSON.stringify(expected)) return false
          } else if (each.kind === 'truncate') {
            writers[each.by].truncate(Math.floor(each.part * model.length))
            const first = reader.head().first.after.sequence
            if (first > Math.floor(each.part * model.length) && first > kept) return false
            kept = Math.max(kept, first)
            if (first !== kept) return false
          } else {
            const since = Math.floor(each.part * model.length)
            if (since < kept) {
              thrown(JournalGone, () => [...reader.read(since)])
              continue
            }
            const expected = model.slice(since).map(({ id }) => id)
            if (idsIn(reader.read(since)).join() !== expected.join()) return false
          }
        }
        const { batchCount, firstSequence } = await verifyJournal(directory)
        return batchCount === model.length - kept && firstSequence === kept + 1
      } finally {
        reader.close()
        for (const writer of writers) await writer.release()
      }
    },
  )
  const numRuns = byTier({ ci: 12, soak: 300 })
  const result = await fc.check(property, { seed, numRuns })
  t.notOk(result.failed, JSON.stringify([result.counterexample, String(result.errorInstance)]))
})

/** A journal, and the same with a last group of three batches behind the head. */
async function withRemains(t: Test) {
  const made = journal(t, { unindexedCount: 4 })
  const { directory, first } = made
  for (let i = 0; i < 6; i++) first.append([batch(`${i}`)])
  const before = `${directory}-before`
  cpSync(directory, before, { recursive: true })
  first.append([batch('x'), batch('y'), batch('z')])
  await first.release()
  const bytes = readFileSync(journalPath(directory, 1))
  const headBytes = statSync(journalPath(before, 1)).size
  /** The journal before the last group, with other bytes in its file. */
  const restored = (content: Uint8Array) => {
    rmSync(directory, { recursive: true })
    cpSync(before, directory, { recursive: true })
    writeFileSync(journalPath(directory, 1), content)
  }
  return { ...made, bytes, headBytes, restored }
}

t.test('a last group that is torn at any byte is cut, and a whole one is taken', async (t) => {
  const { bytes, headBytes, restored, writer, reader, directory } = await withRemains(t)
  const wrong: string[] = []
  const stride = byTier({ ci: 13, soak: 1 })
  for (
    let end = headBytes + 1;
    end <= bytes.length;
    end += end + stride > bytes.length ? 1 : stride
  ) {
    restored(bytes.subarray(0, end))
    const settled: Settled[] = []
    const next = writer({ onSettled: (each) => settled.push(each) })
    const isWhole = end === bytes.length
    const { sequence } = next.prepare()
    const [outcome] = next.append([batch('y')])
    await next.release()
    const expected = isWhole
      ? [9, { kind: 'repeated', sequence: 8 }, { takenBatchCount: 3, cutBytes: 0 }, 9]
      : [6, { kind: 'written', sequence: 7 }, { takenBatchCount: 0, cutBytes: end - headBytes }, 7]
    const reading = reader()
    const found = [sequence, outcome, settled[0], idsIn(reading.read(0)).length]
    reading.close()
    const { behindBytes } = await verifyJournal(directory)
    if (JSON.stringify(found) !== JSON.stringify(expected) || behindBytes !== 0) {
      wrong.push(`${end}: ${JSON.stringify(found)}`)
    }
  }
  t.same(wrong, [])
})

t.test('a last group with any byte changed is cut as a whole', async (t) => {
  const { bytes, headBytes, restored, writer, reader } = await withRemains(t)
  const wrong: number[] = []
  const stride = byTier({ ci: 23, soak: 1 })
  for (let at = headBytes; at < bytes.length; at += stride) {
    const changed = Buffer.from(bytes)
    changed[at] ^= 1 << (at % 8)
    restored(changed)
    const next = started(writer())
    await next.release()
    const reading = reader()
    if (idsIn(reading.read(0)).join() !== '0,1,2,3,4,5') wrong.push(at)
    reading.close()
  }
  t.same(wrong, [])
})

t.test(
  'any byte changed before the head stops readers, verification and a new writer',
  async (t) => {
    const { directory, first, reader, writer } = journal(t, { unindexedCount: 100, fileBytes: 700 })
    for (let i = 0; i < 12; i++) first.append([batch(`${i}`)])
    await first.release()
    t.ok(journalFileNumbers(directory).length >= 2)
    const wrong: string[] = []
    const stride = byTier({ ci: 29, soak: 1 })
    for (const number of journalFileNumbers(directory)) {
      const path = journalPath(directory, number)
      const bytes = readFileSync(path)
      for (let at = 0; at < bytes.length; at += stride) {
        const changed = Buffer.from(bytes)
        changed[at] ^= 1 << (at % 8)
        writeFileSync(path, changed)
        const made = reader()
        const faults = [
          thrown(JournalDamaged, () => [...made.read(0)]),
          thrown(JournalDamaged, () => writer().prepare()),
          await verifyJournal(directory).then(
            () => undefined,
            (fault) => fault as JournalDamaged,
          ),
        ]
        made.close()
        for (const fault of faults) {
          const { file, offset = -1, sequence = 0 } = fault?.damage ?? { file: '' }
          const isNamed =
            path.endsWith(`/${file}`) && offset <= at && at < offset + RECORD_BYTES + 4
          if (!isNamed || sequence < 1 || fault?.code !== 'JournalDamaged') {
            wrong.push(`${number} ${at}: ${fault?.message}`)
          }
        }
      }
      writeFileSync(path, bytes)
    }
    t.same(wrong, [])
    const intact = await verifyJournal(directory)
    t.equal(intact.batchCount, 12)
  },
)

t.test('a corrupt record behind the head that later groups follow stops the writer', async (t) => {
  const { directory, first, writer } = journal(t, { unindexedCount: 100 })
  for (let i = 0; i < 5; i++) first.append([batch(`${i}`)])
  const before = readFileSync(positionPath(directory))
  for (let i = 5; i < 9; i++) first.append([batch(`${i}`)])
  await first.release()
  // As after a power failure that lost the position, and damaged the sixth batch.
  writeFileSync(positionPath(directory), before)
  const path = journalPath(directory, 1)
  const bytes = readFileSync(path)
  bytes[5 * RECORD_BYTES + 50] ^= 1
  writeFileSync(path, bytes)
  const { damage, message } = thrown(JournalDamaged, () => writer().prepare())
  t.match(damage, { file: 'changes-000001.journal', offset: 5 * RECORD_BYTES, sequence: 6 })
  t.match(message, /batch 6.*later batches follow; restore .* or move .* away and import/)
  t.same(readFileSync(path), bytes, 'and leaves all as it is')
  // The last one alone may be torn.
  bytes[5 * RECORD_BYTES + 50] ^= 1
  bytes[8 * RECORD_BYTES + 50] ^= 1
  writeFileSync(path, bytes)
  t.equal(writer().prepare().sequence, 8)
})

t.test('a position that is lost is found again, and its batches are known', async (t) => {
  const { directory, first, writer, reader } = journal(t, { unindexedCount: 4, fileBytes: 400 })
  for (let i = 0; i < 11; i++) first.append([batch(`${i}`)])
  await first.release()
  rmSync(positionPath(directory))
  t.match(thrown(JournalDamaged, () => reader().head()).message, /head is missing/)
  const next = writer()
  t.equal(next.prepare().sequence, 11)
  t.same(next.append([batch('10'), batch('0')]), [
    { kind: 'repeated', sequence: 11 },
    { kind: 'repeated', sequence: 1 },
  ])
  t.equal(idsIn(reader().read(0)).length, 11)
})

t.test('a journal whose head is lost is said so', async (t) => {
  const { directory, first, writer } = journal(t)
  first.append([batch('a')])
  await first.release()
  rmSync(join(directory, 'head'), { recursive: true })
  const { message, exitCode } = thrown(JournalDamaged, () => writer().prepare())
  t.match(message, /journal is damaged: head is missing.*the changes since the last snapshot/)
  t.equal(exitCode, 14)
  await t.rejects(verifyJournal(directory), /head is missing/)
})

t.test('files that are cut short or gone are named', async (t) => {
  const { directory, first, writer, reader } = journal(t, { fileBytes: 300 })
  for (let i = 0; i < 8; i++) first.append([batch(`${i}`)])
  const two = Math.max(...journalFileNumbers(directory))
  const last = journalPath(directory, two)
  const kept = `${directory}-kept`
  copyFileSync(last, kept)
  truncateSync(last, RECORD_BYTES + 4)
  t.match(thrown(JournalDamaged, () => first.append([batch('n')])).damage, {
    offset: RECORD_BYTES,
    sequence: 8,
  })
  rmSync(last)
  const gone = thrown(JournalDamaged, () => [...reader().read(0)]).damage
  t.match(gone, { file: `changes-00000${two}.journal`, offset: 0, sequence: 7 })
  copyFileSync(kept, last)
  rmSync(journalPath(directory, 1))
  await t.rejects(
    verifyJournal(directory),
    /changes-000001.journal at byte 0 \(batch 1\) is missing/,
  )
  await first.release()
  thrown(JournalDamaged, () => [...reader().read(0)])
  thrown(JournalDamaged, () => writer().prepare())
})

t.test('truncation keeps the newest file, and what is behind the sequence', async (t) => {
  const { directory, first, writer, reader } = journal(t, { fileBytes: 240, unindexedCount: 3 })
  for (let i = 0; i < 9; i++) first.append([batch(`${i}`)])
  t.same(journalFileNumbers(directory), [1, 2, 3, 4, 5])
  t.equal(first.truncate(1), 0, 'the first file has batches 1 and 2')
  t.equal(first.truncate(2), 1)
  t.equal(first.truncate(7), 2, 'up to batch 6')
  t.same(journalFileNumbers(directory), [4, 5])
  const reading = reader()
  t.same(idsIn(reading.read(6)), ['6', '7', '8'])
  t.equal(thrown(JournalGone, () => [...reading.read(5)]).firstSequence, 7)
  const verdict = await verifyJournal(directory)
  t.match(verdict, { batchCount: 3, firstSequence: 7, last: { sequence: 9 } })
  const other = started(writer())
  t.equal(other.truncate(1_000), 1)
  t.same(journalFileNumbers(directory), [5])
  t.equal(other.truncate(1_000), 0)
  t.same(other.append([batch('0'), batch('9')]), [
    { kind: 'repeated', sequence: 1 },
    { kind: 'written', sequence: 10 },
  ])
  // A reader that is at it reads on in the file that it has open.
  const slow = reader().read(8)
  t.equal(slow.next().value?.sequence, 9)
  t.equal(slow.next().value?.sequence, 10)
})

t.test('a journal that is replaced is noticed, and a reader takes the new one', async (t) => {
  const { directory, first, writer, reader } = journal(t)
  first.append([batch('a'), batch('b')])
  const reading = reader()
  t.equal(idsIn(reading.read(0)).length, 2)
  rmSync(directory, { recursive: true })
  t.throws(() => first.append([batch('c')]), /another one than before/)
  await first.release()
  const next = started(writer())
  next.append([batch('c')])
  t.same(idsIn(reading.read(0)), ['c'])
  t.match(thrown(JournalDamaged, () => [...reading.read(2)]).message, /batch 2 was there before/)
})

t.test('a reader waits for more, and sees what came in between', async (t) => {
  const { first, reader, writer } = journal(t)
  const stop = new AbortController()
  const seen: string[] = []
  const reading = reader()
  const following = (async () => {
    for await (const { batchId } of reading.follow(0, stop.signal)) seen.push(batchId)
  })()
  const other = started(writer())
  for (let i = 0; i < 20; i++) {
    ;(i % 2 === 0 ? first : other).append([batch(`${i}`), batch(`${i}+`)])
    if (i % 5 === 0) await sleep(2)
  }
  while (seen.length < 40) await sleep(1)
  stop.abort()
  await t.rejects(following, { name: 'AbortError' })
  t.same(
    seen,
    [...reader().read(0)].map(({ batchId }) => batchId),
  )
})

t.test('bytes that are behind the head are no batches', async (t) => {
  const { directory, first, reader } = journal(t)
  first.append([batch('a')])
  appendFileSync(journalPath(directory, 1), readFileSync(journalPath(directory, 1)))
  t.same(idsIn(reader().read(0)), ['a'])
  t.equal((await verifyJournal(directory)).behindBytes, RECORD_BYTES)
  first.append([batch('b')])
  t.same(idsIn(reader().read(0)), ['a', 'b'])
})

t.test('one slot of the position may be torn', async (t) => {
  const { directory, first, reader } = journal(t)
  first.append([batch('a')])
  first.append([batch('b')])
  const bytes = readFileSync(positionPath(directory))
  t.equal(bytes.length, 1024)
  const sequences = [0, 512].map((at) => {
    const fd = openSync(positionPath(directory), 'r+')
    writeSync(fd, Buffer.alloc(100), 0, 100, at)
    closeSync(fd)
    const { sequence } = reader().head()
    writeFileSync(positionPath(directory), bytes)
    return sequence
  })
  t.same(sequences.sort(), [1, 2])
  t.ok(existsSync(positionPath(directory)))
})
