/**
 * A journal that is copied while others write to it and remove files of it.
 *
 * @module
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { prepareBatch } from '../../src/journal/batch.js'
import {
  headDirectory,
  journalFileNumbers,
  journalPath,
  positionPath,
} from '../../src/journal/files.js'
import { holdJournal } from '../../src/journal/hold.js'
import { isClusterJournal, JournalReader } from '../../src/journal/reader.js'
import { setJournalLog } from '../../src/journal/seed.js'
import { summaryOfJournal } from '../../src/journal/summary.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'

function world(t: Test) {
  const parent = temporaryDirectory(t)
  const directory = join(parent, 'journal')
  const writer = new JournalWriter({ directory, fileBytes: 500 })
  t.teardown(() => writer.release())
  let next = 0
  return {
    directory,
    writer,
    /** So many batches, each in a group of its own: two to a file. */
    append(count: number) {
      for (let i = 0; i < count; i++) writer.append([batch(++next)])
    },
    mayHold: () => holdJournal(directory, join(parent, 'workplace')),
    async hold() {
      const held = await holdJournal(directory, join(parent, 'workplace'))
      if (held === undefined) throw new Error('nothing is held')
      return held
    },
    /** Writes a copy down. */
    async copy(held: NonNullable<Awaited<ReturnType<typeof holdJournal>>>) {
      const target = join(parent, `copy-${next}`)
      const { lastSequence, files } = await held.upToNow()
      for (const file of files) {
        const path = join(target, file.name)
        mkdirSync(dirname(path), { recursive: true })
        if ('bytes' in file) writeFileSync(path, file.bytes)
        else {
          const bytes = Buffer.alloc(file.byteLength)
          await file.handle.read(bytes, 0, bytes.length, 0)
          writeFileSync(path, bytes)
        }
      }
      await held.close()
      return { target, lastSequence }
    },
  }
}

const batch = (i: number) =>
  prepareBatch({
    sourceId: 1,
    batchId: `b${i}`,
    changes: [{ op: 'delete', identity: 'x'.repeat(100) }],
  })

function sequencesIn(directory: string, since: number): number[] {
  const reader = new JournalReader(directory)
  try {
    return [...reader.read(since)].map(({ sequence }) => sequence)
  } finally {
    reader.close()
  }
}

const upTo = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

t.test('a copy begins where it was held, and ends where it was made', async (t) => {
  const { writer, append, hold, copy, directory } = world(t)
  append(7)
  const held = await hold()
  append(6)
  t.ok(writer.truncate(7) > 1, 'what is held is removed')
  append(2)
  t.notOk(journalFileNumbers(directory).includes(1))
  const { target, lastSequence } = await copy(held)
  t.equal(lastSequence, 15)
  t.match(await verifyJournal(target), { batchCount: 15, firstSequence: 1, behindBytes: 0 })
  t.same(sequencesIn(target, 0), upTo(1, 15))
  const other = new JournalWriter({ directory: target, fileBytes: 500 })
  t.teardown(() => other.release())
  t.same(other.append([batch(3), batch(15), batch(16)]), [
    { kind: 'repeated', sequence: 3 },
    { kind: 'repeated', sequence: 15 },
    { kind: 'written', sequence: 16 },
  ])
})

t.test('a copy knows the ids of batches that were removed before', async (t) => {
  const { writer, append, hold, copy } = world(t)
  append(9)
  writer.truncate(6)
  append(2)
  const held = await hold()
  const { target } = await copy(held)
  const { firstSequence, lastSequence, byteLength } = summaryOfJournal(target) ?? {}
  t.ok(firstSequence !== undefined && firstSequence > 1 && firstSequence <= 7)
  t.equal(lastSequence, 11)
  t.ok(Number(byteLength) > 500)
  const other = new JournalWriter({ directory: target })
  t.teardown(() => other.release())
  t.same(other.append([batch(1)]), [{ kind: 'repeated', sequence: 1 }])
})

t.test('what came and went while it was held makes no copy with a gap', async (t) => {
  const { writer, append, hold } = world(t)
  append(3)
  const held = await hold()
  append(8)
  writer.truncate(10)
  await t.rejects(held.upToNow(), { code: 'Failed', message: /run the command once more/ })
  await held.close()
})

t.test('what a writer left behind the end is not in a copy', async (t) => {
  const { append, hold, copy, directory } = world(t)
  append(1)
  writeFileSync(journalPath(directory, 1), 'rest', { flag: 'a' })
  const held = await hold()
  const { target } = await copy(held)
  t.equal(readFileSync(journalPath(target, 1)).includes('rest'), false)
  t.match(await verifyJournal(target), { batchCount: 1, behindBytes: 0 })
})

t.test('a journal without batches, and none', async (t) => {
  const { writer, hold, mayHold, copy, directory } = world(t)
  t.equal(await mayHold(), undefined)
  t.equal(summaryOfJournal(directory), undefined)
  writer.prepare()
  const held = await hold()
  const { target } = await copy(held)
  t.match(await verifyJournal(target), { batchCount: 0 })
  t.same(summaryOfJournal(target), { firstSequence: 1, lastSequence: 0, byteLength: 0 })
})

t.test('a journal without its head is no journal that can be copied', async (t) => {
  const { writer, append, hold, directory } = world(t)
  append(1)
  await writer.release()
  rmSync(headDirectory(directory), { recursive: true })
  await t.rejects(hold(), { code: 'JournalDamaged' })
})

t.test('a copy of the journal of a machine of a cluster is of none', async (t) => {
  const { hold, copy, directory } = world(t)
  const generation = '0123456789abcdef'
  await setJournalLog(directory, { generation, place: 0 })
  const writer = new JournalWriter({ directory, isClustered: true })
  t.teardown(() => writer.release())
  writer.append([batch(1)], { log: { generation, place: 1 }, timeMs: 1 })
  const { target } = await copy(await hold())
  t.equal(isClusterJournal(directory), true)
  t.equal(isClusterJournal(target), false)
  // Also where a power failure takes the position.
  rmSync(positionPath(target))
  const copied = new JournalWriter({ directory: target })
  t.teardown(() => copied.release())
  t.match(copied.append([batch(1), batch(2)]), [{ kind: 'repeated' }, { sequence: 2 }])
})
