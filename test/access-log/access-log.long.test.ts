/**
 * Lines on their way to a file, a pipe without a reader and a disk that is full.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { addTo, createLogCounters, LineQueue } from '../../src/access-log/queue.js'
import { startAccessLog } from '../../src/access-log/thread.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

function start(t: Test, target = join(temporaryDirectory(t), 'access.log')) {
  const told: unknown[] = []
  const log = createLog('silent')
  log.warn = (fields: unknown) => void told.push(fields)
  log.info = (...fields: unknown[]) => void told.push(fields[0])
  const thread = startAccessLog(target, log)
  // A test that fails before its end leaves no thread, which would keep the file from ending.
  t.teardown(() => thread.stop())
  const queue = new LineQueue(thread.openPort(), thread.counters)
  const count = (slot: 'queued' | 'dropped') => addTo(thread.counters, slot, 0)
  return { target, told, thread, queue, count }
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1)

t.test('lines of several threads come whole, and each thread keeps its order', async (t) => {
  const { target, thread, queue } = start(t)
  const other = new LineQueue(thread.openPort(), thread.counters)
  for (let i = 0; i < 5_000; i++) {
    queue.add(`a ${i}\n`)
    other.add(`b ${i}\n`)
  }
  queue.flush()
  other.flush()
  await thread.stop()
  const lines = linesOf(target)
  for (const name of ['a', 'b']) {
    const own = lines.filter((line) => line.startsWith(name))
    t.same(
      own,
      Array.from({ length: 5_000 }, (_, i) => `${name} ${i}`),
    )
  }
  t.equal(statSync(target).mode & 0o777, 0o600)
})

t.test('as many bytes wait as may, and a line beyond them is dropped', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port2.close())
  const counters = createLogCounters()
  const queue = new LineQueue(port1, counters)
  const line = `${'x'.repeat(1_023)}\n`
  const count = limits.accessLogQueuedBytes / line.length
  for (let i = 0; i < count; i++) queue.add(line)
  t.equal(addTo(counters, 'dropped', 0), 0)
  queue.add('\n')
  t.equal(addTo(counters, 'dropped', 0), 1)
  t.equal(addTo(counters, 'queued', 0), limits.accessLogQueuedBytes)
  queue.flush()
})

t.test('a file that logrotate has moved is followed by another one', async (t) => {
  const { target, thread, queue } = start(t)
  queue.add('first\n')
  queue.flush()
  await until(() => existsSync(target) && linesOf(target).length === 1)
  renameSync(target, `${target}.1`)
  // The order and the lines come by two ways: lines that come first are for the file that was moved.
  thread.reopen()
  await until(() => existsSync(target))
  queue.add('second\n')
  queue.flush()
  await until(() => linesOf(target).length === 1)
  renameSync(target, `${target}.2`)
  // Without a signal, it is noticed.
  await until(() => existsSync(target))
  queue.add('third\n')
  queue.flush()
  await until(() => linesOf(target).length === 1)
  truncateSync(target)
  queue.add('fourth\n')
  queue.flush()
  await thread.stop()
  t.same(linesOf(`${target}.1`), ['first'])
  t.same(linesOf(`${target}.2`), ['second'])
  t.same(linesOf(target), ['fourth'], 'copytruncate, too')
})

t.test('a pipe without a reader blocks no thread, and dropped lines are counted', async (t) => {
  const target = join(temporaryDirectory(t), 'pipe')
  execFileSync('mkfifo', [target])
  const { thread, queue, count, told } = start(t, target)
  const line = `${'x'.repeat(99)}\n`
  for (let i = 0; i < 200_000; i++) queue.add(line)
  queue.flush()
  await until(() => told.length > 0)
  t.match(told[0], { reason: 'ENXIO' })
  const droppedCount = count('dropped')
  t.ok(droppedCount > 100_000)
  // One who reads a little and then stops.
  const { O_RDONLY, O_NONBLOCK } = constants
  const reader = openSync(target, O_RDONLY | O_NONBLOCK)
  const piece = Buffer.alloc(64 << 10)
  let text = ''
  const read = () => {
    try {
      text += piece.toString('latin1', 0, readSync(reader, piece))
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EAGAIN') throw fault
    }
    return text.length
  }
  await until(() => read() > 100_000)
  queue.add('while the pipe is full\n')
  queue.flush()
  const keptBytes = (200_000 - droppedCount) * line.length
  await until(() => {
    read()
    return text.includes('droppedCount')
  })
  t.match(text, `"droppedCount":${droppedCount}`)
  t.match(text, 'while the pipe is full\n')
  t.equal(text.split(line).length - 1, keptBytes / line.length)
  await thread.stop()
  closeSync(reader)
})

t.test('a service stops although its pipe has no reader', async (t) => {
  const target = join(temporaryDirectory(t), 'pipe')
  execFileSync('mkfifo', [target])
  const { thread, queue } = start(t, target)
  for (let i = 0; i < 1_000; i++) queue.add(`${i}\n`)
  queue.flush()
  await thread.stop()
  const reader = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK)
  const full = start(t, target)
  const line = 'a line\n'
  for (let i = 0; i < 100_000; i++) full.queue.add(line)
  full.queue.flush()
  await until(() => full.count('queued') < 100_000 * line.length)
  await full.thread.stop()
  closeSync(reader)
})

t.test('a disk that is full is told of once', async (t) => {
  const { thread, queue, told, count } = start(t, '/dev/full')
  queue.add('lost\n')
  queue.flush()
  await until(() => told.length > 0)
  queue.add('lost, too\n')
  queue.flush()
  await thread.stop()
  t.same(told, [{ reason: 'ENOSPC' }])
  t.ok(count('queued') > 0)
})
