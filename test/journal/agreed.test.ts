import { existsSync, mkdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { endAgreedPart, hasAgreedPart } from '../../src/journal/agreed-part.js'
import { prepareBatch, prepareEntry } from '../../src/journal/batch.js'
import { cutJournal } from '../../src/journal/cut.js'
import { committedPath, journalFileNumbers, journalPath } from '../../src/journal/files.js'
import { groupsBehind, recordsOfGroups } from '../../src/journal/groups.js'
import { copyHead } from '../../src/journal/hold.js'
import { JournalReader } from '../../src/journal/reader.js'
import { ENTRY_SOURCE } from '../../src/journal/record.js'
import { beginBehind, foundJournal } from '../../src/journal/seed.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const batch = (id: string) =>
  prepareBatch({ sourceId: 1, batchId: id, changes: [{ op: 'delete', identity: id }] })

type Options = Partial<ConstructorParameters<typeof JournalWriter>[0]>

async function founded(t: Test, options: Options = {}) {
  const directory = join(temporaryDirectory(t), 'journal')
  await foundJournal(directory)
  return opened(t, directory, options)
}

function opened(t: Test, directory: string, options: Options = {}) {
  const writer = new JournalWriter({ directory, isClustered: true, ...options })
  const reader = new JournalReader(directory)
  const raw = new JournalReader(directory, 'written')
  t.teardown(async () => {
    reader.close()
    raw.close()
    await writer.release()
  })
  return { directory, writer, reader, raw }
}

const idsFrom = (reader: JournalReader, since = 0) =>
  [...reader.read(since)].map(({ batchId }) => batchId)

t.test('readers see what is committed, by whole groups', async (t) => {
  const { directory, writer, reader, raw } = await founded(t)
  t.same(idsFrom(reader), [])
  writer.append([batch('a'), batch('b')])
  writer.append([batch('c')])
  t.same(idsFrom(reader), [])
  t.same(idsFrom(raw), ['a', 'b', 'c'])
  t.equal(writer.commit(1), 0, 'a part of a group')
  t.equal(writer.commit(2), 2)
  t.same(idsFrom(reader), ['a', 'b'])
  t.equal(reader.head().sequence, 2)
  t.equal(writer.commit(1), 2, 'never less')
  t.equal(writer.commit(99), 3)
  t.same(idsFrom(reader, 1), ['b', 'c'])
  t.match(await verifyJournal(directory), { batchCount: 3, firstSequence: 1 })
})

t.test('a journal that was there is committed as a cluster is founded', async (t) => {
  const directory = join(temporaryDirectory(t), 'journal')
  const before = new JournalWriter({ directory })
  before.append([batch('a'), batch('b')])
  await before.release()
  t.equal((await foundJournal(directory)).sequence, 2)
  const { writer, reader } = opened(t, directory)
  t.same(idsFrom(reader), ['a', 'b'])
  t.same(writer.append([batch('b'), batch('c')]), [
    { kind: 'repeated', sequence: 2 },
    { kind: 'written', sequence: 3 },
  ])
})

t.test(
  'nobody writes to the journal of a cluster unasked, or goes on when it has left',
  async (t) => {
    const { directory, writer } = await founded(t)
    writer.append([batch('a')])
    writer.commit(1)
    const other = new JournalWriter({ directory })
    t.teardown(() => other.release())
    t.throws(() => other.append([batch('b')]), { code: 'Usage', message: /hickory cluster leave/ })
    endAgreedPart(directory)
    t.throws(() => writer.append([batch('b')]), { code: 'Usage' })
    t.match(other.append([batch('b')]), [{ kind: 'written', sequence: 2 }])
  },
)

t.test('waiting readers hear of a commit, not of a write', async (t) => {
  const { writer, reader } = await founded(t)
  const ending = new AbortController()
  let heard: number | undefined
  const more = reader.more(0, ending.signal).then(({ sequence }) => {
    heard = sequence
  })
  writer.append([batch('a')])
  await new Promise((resolve) => setTimeout(resolve, 250))
  t.equal(heard, undefined)
  writer.commit(1)
  await more
  t.equal(heard, 1)
})

t.test('entries are no changes of recipients', async (t) => {
  const { directory, writer, reader } = await founded(t)
  writer.append([batch('a'), prepareEntry('e1', Buffer.from('anything')), batch('b')])
  t.match(writer.append([prepareEntry('e1', Buffer.from('anything'))]), [{ kind: 'repeated' }])
  t.match(writer.append([prepareEntry('e1', Buffer.from('other'))]), [{ kind: 'conflicting' }])
  writer.commit(3)
  t.match([...reader.read(1)][0], { sourceId: ENTRY_SOURCE, batchId: 'e1', changes: [] })
  const [record] = reader.records(1)
  t.equal(Buffer.from(record.content).toString(), 'anything')
  t.match(await verifyJournal(directory), { batchCount: 3, changeCount: 2 })
})

t.test('groups are copied as they are, with the ids of their batches', async (t) => {
  const from = await founded(t)
  const to = await founded(t)
  for (const ids of ['ab', 'c', 'def']) from.writer.append([...ids].map(batch))
  const small = groupsBehind(from.raw, 0, 1)
  t.equal(small?.last.sequence, 2, 'a group is whole, however large')
  const all = groupsBehind(from.raw, 0, 1 << 20)
  t.equal(all?.last.sequence, 6)
  if (all === undefined) throw new Error('there are groups')
  t.equal(recordsOfGroups(all)?.length, 6)
  t.same(to.writer.copy(all.bytes), all.last)
  t.same(idsFrom(to.raw), [...'abcdef'])
  t.same(idsFrom(to.reader), [])
  t.equal(to.writer.commit(4), 3)
  t.match(to.writer.append([batch('e'), batch('g')]), [
    { kind: 'repeated', sequence: 5 },
    { kind: 'written', sequence: 7 },
  ])
  t.throws(() => to.writer.copy(all.bytes), /do not go on with batch 7/)
  t.equal(groupsBehind(from.raw, 6, 1 << 20), undefined)
})

t.test('groups that are not as they were written are not taken', async (t) => {
  const { writer, raw } = await founded(t)
  writer.append([batch('a'), batch('b')])
  const groups = groupsBehind(raw, 0, 1 << 20)
  if (groups === undefined) throw new Error('there are groups')
  const { bytes, previous } = groups
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at] ^= 1
    const taken = recordsOfGroups({ ...groups, bytes: flipped })
    if (taken !== undefined) t.fail(`byte ${at}`)
  }
  t.equal(recordsOfGroups({ ...groups, bytes: bytes.subarray(0, bytes.length / 2) }), undefined)
  const elsewhere = { ...previous, sequence: 4 }
  t.equal(recordsOfGroups({ ...groups, previous: elsewhere }), undefined)
})

t.test('what was not committed is taken back, and its ids are free again', async (t) => {
  const { directory, writer, reader, raw } = await founded(t, { fileBytes: 300, unindexedCount: 1 })
  writer.append([batch('a'), batch('b')])
  writer.append([batch('c')])
  writer.commit(2)
  for (const id of 'defghi') writer.append([batch(id)])
  const fileCount = journalFileNumbers(directory).length
  t.ok(fileCount > 2)
  await t.rejects(writer.cutBack(1), /committed/)
  await writer.cutBack(3)
  t.ok(journalFileNumbers(directory).length < fileCount)
  t.same(idsFrom(raw), ['a', 'b', 'c'])
  t.match(writer.append([batch('d'), batch('b')]), [
    { kind: 'written', sequence: 4 },
    { kind: 'repeated', sequence: 2 },
  ])
  writer.commit(4)
  t.same(idsFrom(reader), ['a', 'b', 'c', 'd'])
  await verifyJournal(directory)
  await writer.cutBack(4)
  t.same(idsFrom(reader), ['a', 'b', 'c', 'd'])
})

t.test('a journal that lost what was committed is damaged', async (t) => {
  const { directory, writer } = await founded(t)
  writer.append([batch('a')])
  writer.append([batch('b')])
  writer.commit(2)
  await writer.release()
  const path = journalPath(directory, 1)
  truncateSync(path, statSync(path).size - 1)
  t.throws(() => writer.prepare(), { code: 'JournalDamaged' })
})

t.test('another machine begins behind a head that is copied', async (t) => {
  const from = await founded(t, { fileBytes: 300, unindexedCount: 2 })
  for (const id of 'abcdefg') {
    from.writer.append([batch(id)])
    from.writer.commit(99)
  }
  const directory = join(temporaryDirectory(t), 'journal')
  mkdirSync(directory)
  const { sequence: last } = await copyHead(from.directory, directory)
  t.ok(last > 3 && last < 7, `the head is somewhat older: ${last}`)
  // The snapshot of the other machine goes on from an earlier batch.
  const sequence = last - 1
  const [record] = from.raw.records(sequence - 1)
  await beginBehind(directory, { sequence, hash: record.hash })
  t.ok(existsSync(committedPath(directory)))
  const to = opened(t, directory)
  t.equal(to.reader.head().sequence, sequence)
  t.throws(() => idsFrom(to.reader), {
    message: new RegExp(`begins with ${sequence + 1}$`),
  })
  t.same(idsFrom(to.reader, sequence), [])
  const groups = groupsBehind(from.raw, sequence, 1 << 20)
  to.writer.copy(groups?.bytes ?? Buffer.alloc(0))
  to.writer.commit(7)
  t.same(idsFrom(to.reader, sequence), [...'abcdefg'].slice(sequence))
  t.match(to.writer.append([batch('a'), batch('g'), batch('h')]), [
    { kind: 'repeated', sequence: 1 },
    { kind: 'repeated', sequence: 7 },
    { kind: 'written', sequence: 8 },
  ])
  await verifyJournal(directory)
})

t.test('a journal of a cluster is cut no further than it is committed', async (t) => {
  const { directory, writer, reader, raw } = await founded(t, { fileBytes: 150, unindexedCount: 1 })
  for (const id of 'abcdef') writer.append([batch(id)])
  writer.commit(3)
  await writer.release()
  t.ok((await cutJournal(directory, 6)) > 0)
  t.same(idsFrom(reader, 3), [])
  t.same(idsFrom(raw, 3), ['d', 'e', 'f'])
  writer.commit(6)
  t.same(idsFrom(reader, 3), ['d', 'e', 'f'])
  t.match(writer.append([batch('a')]), [{ kind: 'repeated', sequence: 1 }])
})

t.test('readers go on when what they have read is removed', async (t) => {
  const { directory, writer, reader } = await founded(t, { fileBytes: 150, unindexedCount: 1 })
  for (const id of 'abc') writer.append([batch(id)])
  writer.commit(3)
  t.ok(journalFileNumbers(directory).length > 1, 'there are several files')
  // Up to the end of a file.
  t.same(idsFrom(reader), ['a', 'b', 'c'])
  for (const id of 'def') writer.append([batch(id)])
  writer.commit(6)
  t.ok(writer.truncate(3) > 0)
  t.equal(reader.head().first.after.sequence, 3, 'to the last one that was read')
  t.same(idsFrom(reader, 3), ['d', 'e', 'f'])
  // While one reads, what it has read is removed, and what it is going to read.
  const reading = new JournalReader(directory)
  t.teardown(() => reading.close())
  const records = reading.records(3)
  t.equal(records.next().value?.batchId, 'd')
  for (const id of 'ghi') writer.append([batch(id)])
  writer.commit(9)
  t.ok(writer.truncate(5) > 0)
  t.throws(() => [...records], { message: /begins with 6$/ })
  t.same(idsFrom(reading, 5), [...'fghi'])
  t.same(idsFrom(reader, 6), [...'ghi'])
})

type Step =
  | { readonly kind: 'append'; readonly count: number }
  | { readonly kind: 'commit'; readonly part: number }
  | { readonly kind: 'cutBack'; readonly part: number }
  | { readonly kind: 'cut'; readonly part: number }
  | { readonly kind: 'release' | 'copy' }

const part = fc.nat(1_000_000).map((share) => share / 1_000_000)
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({
      kind: fc.constantFrom('commit' as const, 'cutBack' as const, 'cut' as const),
      part,
    }),
    fc.record({ kind: fc.constantFrom('release' as const, 'copy' as const) }),
  ),
  { minLength: 5, maxLength: 40 },
)

t.test('a journal and its copy are what a list says, whatever happens to them', async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, async (steps: readonly Step[]) => {
      const options = { fileBytes: 700, unindexedCount: 3, knownBatchCount: 1_000 }
      const own = await founded(t, options)
      const copy = await founded(t, options)
      /** Ends of groups, and the ids of all batches. */
      let ids: string[] = []
      let ends: number[] = [0]
      let committed = 0
      let first = 0
      let made = 0
      for (const step of steps) {
        switch (step.kind) {
          case 'append': {
            const fresh = Array.from({ length: step.count }, () => `b${made++}`)
            own.writer.append(fresh.map(batch))
            ids = [...ids, ...fresh]
            ends.push(ids.length)
            break
          }
          case 'commit':
            committed = Math.max(
              committed,
              ends.findLast((end) => end <= Math.round(step.part * ids.length)) ?? 0,
            )
            t.equal(
              own.writer.commit(Math.max(committed, Math.round(step.part * ids.length))),
              committed,
            )
            break
          case 'cutBack': {
            const open = ends.filter((end) => end >= committed)
            const to = open[Math.min(open.length - 1, Math.floor(step.part * open.length))]
            if (to < copy.raw.head().sequence) break
            await own.writer.cutBack(to)
            ids = ids.slice(0, to)
            ends = ends.filter((end) => end <= to)
            break
          }
          case 'cut':
            // As a command does, in a process of its own.
            await cutJournal(own.directory, Math.round(step.part * copy.raw.head().sequence))
            first = own.raw.head().first.after.sequence
            break
          case 'release':
            await own.writer.release()
            break
          case 'copy':
            for (;;) {
              const groups = groupsBehind(own.raw, copy.raw.head().sequence, 300)
              if (groups === undefined) break
              if (recordsOfGroups(groups) === undefined) return false
              copy.writer.copy(groups.bytes)
            }
            copy.writer.commit(committed)
            break
        }
        t.same(idsFrom(own.raw, first), ids.slice(first))
        t.same(idsFrom(own.reader, Math.min(committed, first)), ids.slice(first, committed))
        t.same(idsFrom(copy.raw), ids.slice(0, copy.raw.head().sequence))
      }
      if (!hasAgreedPart(own.directory)) return false
      await verifyJournal(own.directory)
      await verifyJournal(copy.directory)
      await own.writer.release()
      await copy.writer.release()
      return true
    }),
    { seed, numRuns: byTier({ ci: 25, soak: 1_000 }) },
  )
})
