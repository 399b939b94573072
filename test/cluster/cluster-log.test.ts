/**
 * The journal of a machine as the agreement sees it, while a thread writes it and takes back what is not committed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { ClusterLog } from '../../src/cluster/cluster-log.js'
import { encodeEntry } from '../../src/cluster/entries.js'
import { prepareEntry } from '../../src/journal/batch.js'
import { journalDirectory } from '../../src/journal/files.js'
import { foundJournal } from '../../src/journal/seed.js'
import { JournalWriter } from '../../src/journal/writer.js'
import type { JournalOrder } from '../../src/live/cluster-messages.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const TAIL = { sequence: 0, epochs: [], members: [], membersSequence: 0 }

interface Writing {
  readonly log: ClusterLog
  readonly writer: JournalWriter
  /** What happens between an order and the word that it was carried out. */
  onDone: () => Promise<void>
}

/** A journal, and somebody who writes it as the thread of changes does. */
async function writing(t: Test): Promise<Writing> {
  const directory = journalDirectory(temporaryDirectory(t))
  await foundJournal(directory)
  const { port1, port2 } = new MessageChannel()
  const writer = new JournalWriter({ directory, isClustered: true })
  const log = new ClusterLog({ directory, port: port1, tail: TAIL, name: 'a' })
  const all: Writing = { log, writer, onDone: async () => {} }
  port2.on('message', async (order: JournalOrder) => {
    if (order.kind === 'commit') {
      writer.commit(order.sequence)
      return
    }
    if (!('number' in order)) return
    const { number } = order
    try {
      if (order.kind === 'cutBack') await writer.cutBack(order.sequence)
      else if (order.kind === 'enter' || order.kind === 'begin') writer.append([order.entry])
      else throw new Error(`nobody here does ${order.kind}`)
      await all.onDone()
      port2.postMessage({ kind: 'done', number })
    } catch (fault) {
      port2.postMessage({ kind: 'done', number, fault: (fault as Error).message })
    }
  })
  t.teardown(async () => {
    port1.close()
    port2.close()
    log.close()
    await writer.release()
  })
  return all
}

t.test('what is taken back is known no more, and what comes in its place is', async (t) => {
  const { log } = await writing(t)
  await log.begin(1)
  await log.nameMembers([{ name: 'a', incarnation: 'x' }])
  log.commit(2)
  await log.begin(2)
  await log.nameMembers([{ name: 'b', incarnation: 'y' }])
  const taken = log.linkAt(4)
  t.match(log.end(), { sequence: 4, epoch: 2 })
  t.equal(log.epochSequence(), 3)
  await log.cutBack(2)
  t.match(log.end(), { sequence: 2, epoch: 1 })
  t.equal(log.epochSequence(), 1)
  t.same(log.members(), [{ name: 'a', incarnation: 'x' }])
  t.equal(log.linkAt(3), undefined)
  t.equal(log.behind(2), undefined)
  await log.begin(5)
  await log.begin(6)
  t.match(log.end(), { sequence: 4, epoch: 6 })
  t.not(log.linkAt(4)?.hash, taken?.hash)
  t.equal(log.behind(2)?.last.hash, log.end().hash)
})

t.test('whoever looks while it is taken back finds no damage', async (t) => {
  const all = await writing(t)
  const { log, writer } = all
  await log.begin(1)
  log.commit(1)
  // Of a thread that says so later than it is done.
  for (const epoch of [2, 3]) {
    const entry = encodeEntry({ kind: 'epoch', epoch, name: 'a' })
    writer.append([prepareEntry(`epoch ${epoch}`, entry)])
  }
  log.refresh()
  t.match(log.end(), { sequence: 3, epoch: 3 })
  all.onDone = async () => {
    log.refresh()
    t.equal(log.behind(3), undefined)
    await sleep(10)
    log.refresh()
  }
  await log.cutBack(1)
  t.match(log.end(), { sequence: 1, epoch: 1 })
  log.refresh()
  t.match(log.end(), { sequence: 1, epoch: 1 })
})

t.test('what is committed is not taken back', async (t) => {
  const { log } = await writing(t)
  await log.begin(1)
  await log.begin(2)
  log.commit(2)
  await log.begin(3)
  await t.rejects(log.cutBack(1), { message: /batch 2 is committed, and cannot be taken back/ })
  t.equal(log.committed(), 2)
  t.match(log.end(), { sequence: 3, epoch: 3 })
  t.equal(log.epochSequence(), 3)
})

t.test('an entry tells its sequence, and which snapshot is served as of it', async (t) => {
  const { log } = await writing(t)
  await log.begin(1)
  t.equal(await log.enter({ kind: 'comparison', salt: 'ab' }), 2)
  t.equal(log.switchedIdAt(2), undefined)
  await log.enter({ kind: 'switch', id: 'one', importCount: 2, unneededSequence: 0 })
  const sequences = await Promise.all([
    log.enter({ kind: 'comparison', salt: 'ab' }),
    log.enter({ kind: 'switch', id: 'two', importCount: 2, unneededSequence: 0 }),
    log.enter({ kind: 'comparison', salt: 'ab' }),
  ])
  t.same(sequences, [4, 5, 6])
  t.same(
    [2, 3, 4, 5, 6].map((sequence) => log.switchedIdAt(sequence)),
    [undefined, 'one', 'one', 'two', 'two'],
  )
})
