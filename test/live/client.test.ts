/**
 * The thread of changes, as those see it who hand in batches.
 *
 * @module
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { OVERLOADED, ServiceError } from '../../src/errors.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory, journalPath } from '../../src/journal/files.js'
import { JournalReader } from '../../src/journal/reader.js'
import { recordBytes } from '../../src/journal/record.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { limits } from '../../src/limits.js'
import { changesClient } from '../../src/live/client.js'
import { startLive } from '../../src/live/start.js'
import { createWaiting, Waiting } from '../../src/live/waiting.js'
import { callsOver } from '../../src/threads/calls.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const batch = (batchId: string, text = 'a', changeCount = 1) =>
  prepareBatch({
    sourceId: 1,
    batchId,
    changes: Array.from({ length: changeCount }, () => ({ op: 'delete', identity: text })),
  })

function idsIn(data: string): string[] {
  const reader = new JournalReader(journalDirectory(data))
  try {
    return [...reader.read(0)].map(({ batchId }) => batchId)
  } finally {
    reader.close()
  }
}

const start = (dataDirectory: string) => {
  const { port1: marks } = new MessageChannel()
  return startLive({ dataDirectory, marks, onDue: () => {}, log: silentLog })
}

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'none',
    (fault) => (fault as ServiceError).code,
  )

t.test('batches of several threads are written once each, in groups', async (t) => {
  const data = temporaryDirectory(t)
  const live = await start(data)
  t.notOk(existsSync(journalDirectory(data)), 'begun with the first batch')
  const clients = [changesClient(live.openPort()), changesClient(live.openPort())]
  const asked = Array.from({ length: 400 }, (_, i) =>
    clients[i % 2].append(batch(`b${Math.floor(i / 2)}`)),
  )
  const kinds = (await Promise.all(asked)).map(({ outcome }) => outcome)
  t.equal(kinds.filter(({ kind }) => kind === 'written').length, 200)
  t.equal(kinds.filter(({ kind }) => kind === 'repeated').length, 200)
  for (let i = 0; i < 400; i += 2) t.equal(kinds[i].sequence, kinds[i + 1].sequence)
  const { outcome } = await clients[0].append(batch('b7', 'other'))
  t.match(outcome, { kind: 'conflicting', sequence: kinds[14].sequence })
  await live.stop()
  const ids = idsIn(data)
  t.equal(ids.length, 200)
  for (const [i, { sequence }] of kinds.entries()) {
    if (ids[sequence - 1] !== `b${Math.floor(i / 2)}`) t.fail(`batch ${i} is elsewhere`)
  }
})

t.test('what was handed in is written when the thread stops', async (t) => {
  const data = temporaryDirectory(t)
  const live = await start(data)
  const client = changesClient(live.openPort())
  const asked = Array.from({ length: 50 }, (_, i) => client.append(batch(`b${i}`)))
  await Promise.all([live.stop(), ...asked])
  t.equal(idsIn(data).length, 50)
})

t.test('more than one group holds is written in several', async (t) => {
  const data = temporaryDirectory(t)
  const live = await start(data)
  const client = changesClient(live.openPort())
  const text = 'x'.repeat(limits.journalRecordBytes - 200)
  const asked = [1, 2, 3].map((i) => client.append(batch(`b${i}`, text)))
  const given = await Promise.all(asked)
  t.ok(3 * recordBytes(batch('b1', text)) > limits.journalGroupBytes)
  t.same(
    given.map(({ outcome }) => outcome.sequence),
    [1, 2, 3],
  )
  await live.stop()
})

t.test('batches that wait are bounded, by number and by bytes', async (t) => {
  const { port1 } = new MessageChannel()
  const one = recordBytes(batch('b0'))
  const open = (bounds: { count?: number; bytes?: number }) =>
    changesClient({ port: port1, waiting: createWaiting() }, { bounds, waitMs: 50 })
  for (const bounds of [{ count: 2 }, { bytes: 2 * one }]) {
    const client = open(bounds)
    const waiting = [client.append(batch('b1')), client.append(batch('b2'))]
    t.equal(await client.append(batch('b3')).catch((fault) => fault), OVERLOADED)
    t.same(await Promise.all(waiting.map(codeOf)), ['Unavailable', 'Unavailable'])
    t.equal(await codeOf(client.append(batch('b4'))), 'Overloaded', 'no thread took them off')
  }
  const client = open({ bytes: 2 * one - 1 })
  const first = codeOf(client.append(batch('b1')))
  t.equal(await codeOf(client.append(batch('b2'))), 'Overloaded')
  await first
  port1.close()
})

t.test('those of limits hold unless others are given', async (t) => {
  const { batchesWaitingCount, batchesWaitingBytes } = limits
  const count = new Waiting(createWaiting())
  for (let i = 0; i < batchesWaitingCount; i++) if (!count.enter(1)) t.fail(`${i} fit`)
  t.notOk(count.enter(1))
  count.leave(1)
  t.ok(count.enter(1))
  const bytes = new Waiting(createWaiting())
  t.ok(bytes.enter(batchesWaitingBytes))
  t.notOk(bytes.enter(1))
  bytes.leave(batchesWaitingBytes)
  t.notOk(bytes.enter(batchesWaitingBytes + 1))
  t.ok(bytes.enter(1))
})

t.test('what is answered is taken off', async (t) => {
  const data = temporaryDirectory(t)
  const live = await start(data)
  const port = live.openPort()
  const client = changesClient(port, { bounds: { count: 3 } })
  for (let i = 0; i < 10; i++) await client.append(batch(`b${i}`))
  t.same([...port.waiting], [0, 0])
  await live.stop()
})

t.test('a batch that may be in the log is to be sent again', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port2.close())
  callsOver(port2, { append: () => ({ mayBeStored: true }) })
  const client = changesClient({ port: port1, waiting: createWaiting() })
  await t.rejects(client.append(batch('b1')), {
    code: 'Unavailable',
    message: /may be stored all the same: send it again with the same batchId$/,
  })
})

t.test('a journal that cannot be written refuses batches until it can', async (t) => {
  const data = temporaryDirectory(t)
  // A file in its place, whoever runs the test.
  writeFileSync(journalDirectory(data), '')
  const live = await start(data)
  const port = live.openPort()
  const client = changesClient(port)
  const error = await client.append(batch('b1')).catch((fault) => fault)
  t.ok(error instanceof ServiceError)
  t.match(error, { code: 'Unavailable', status: 503 })
  t.equal(await codeOf(client.append(batch('b1'))), 'Unavailable', 'at once')
  t.same([...port.waiting], [0, 0])
  rmSync(journalDirectory(data))
  let outcome: unknown
  while (outcome === undefined) {
    await sleep(20)
    outcome = await client.append(batch('b1')).then(
      (taken) => taken.outcome,
      () => undefined,
    )
  }
  t.same(outcome, { kind: 'written', sequence: 1 })
  await live.stop()
  t.same(idsIn(data), ['b1'])
})

t.test('a journal that is damaged stops the start', async (t) => {
  const data = await damaged(t)
  await t.rejects(start(data), { code: 'JournalDamaged', exitCode: 14 })
})

async function damaged(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  const directory = journalDirectory(data)
  mkdirSync(directory)
  const writer = new JournalWriter({ directory, fileBytes: 100 })
  for (let i = 0; i < 5; i++) writer.append([batch(`b${i}`)])
  await writer.release()
  rmSync(journalPath(directory, 3))
  return data
}
