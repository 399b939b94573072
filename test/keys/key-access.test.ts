/**
 * What a key may have of lists, where they are answered: counted before they begin, and no count is one.
 *
 * @module
 */
import t from 'tap'
import type { TooManyRequests } from '../../src/errors.js'
import { executeAll } from '../../src/http/batch.js'
import { sendError } from '../../src/http/fault.js'
import { createKeyMemory, dayOf, type KeyMemory, rowsOf } from '../../src/keys/key-memory.js'
import { limits } from '../../src/limits.js'
import type { Asker } from '../../src/selection/access.js'
import { answer } from '../../src/selection/answer.js'
import { columnsOf } from '../support/data/columns.js'
import { accessFor, followed, keyFor, keysInMemory } from '../support/data/keys.js'
import { squareGeometry } from '../support/data/store.js'
import { localService } from '../support/service/local-service.js'
import { memoryReply } from '../support/service/memory-reply.js'

const COUNT = 10
const people = Array.from({ length: COUNT }, (_, i) => ({
  phone: `+99900000${10 + i}`,
  lng: i / 10,
  lat: i / 10,
  contact: '',
}))
const service = localService([{ id: 1, label: 'A', columns: columnsOf(people) }])
const list = { geoJSON: squareGeometry(-1, -1, 4) }
const count = { ...list, countsOnly: true }

type Wish = Parameters<typeof keyFor>[1]

function keyed(wish: Wish): { memory: KeyMemory; caller: () => Asker & { end(): void } } {
  const keys = keysInMemory()
  const text = keyFor(keys, wish)
  const memory = createKeyMemory(1)
  const access = accessFor(followed(keys, memory).ring, text)
  if (access === undefined) throw new Error('the key lets nobody in')
  const caller = () => {
    const listeners: (() => void)[] = []
    return {
      access,
      gone: false,
      deadlineMs: performance.now() + limits.requestMs,
      whenOver: (listener: () => void) => void listeners.push(listener),
      end: () => {
        for (const listener of listeners.splice(0)) listener()
      },
    }
  }
  return { memory, caller }
}

const rowsToday = (memory: KeyMemory) => rowsOf(memory, 0, dayOf(Date.now()))

t.test('rows of lists and pages count, and counts do not', async (t) => {
  const { memory, caller } = keyed({ rowsPerDay: 25 })
  await answer(service, list, caller())
  t.equal(rowsToday(memory), COUNT)
  for (let i = 0; i < 100; i++) await answer(service, count, caller())
  t.equal(rowsToday(memory), COUNT)
  await answer(service, { ...list, limit: 3 }, caller())
  t.equal(rowsToday(memory), COUNT + 3, 'those on the page')
  await answer(service, list, caller())
  const refused = answer(service, list, caller())
  await t.rejects(refused, { code: 'TooManyRequests', message: /has 10 rows.*has 2 of 25 left/ })
  t.equal(rowsToday(memory), 2 * COUNT + 3, 'nothing of a list that is refused')
  await answer(service, { ...list, limit: 2 }, caller())
  await t.rejects(answer(service, { ...list, limit: 1 }, caller()), { code: 'TooManyRequests' })
  t.match(await answer(service, count, caller()), {}, 'counts go on')
})

t.test('a request has one list under way, whatever is in it, until it is over', async (t) => {
  const { caller } = keyed({ concurrentLists: 2 })
  const [first, second, third] = [caller(), caller(), caller()]
  for (let i = 0; i < 5; i++) await answer(service, list, first)
  await answer(service, list, second)
  const refusal = { code: 'TooManyRequests', message: /may have 2 lists at a time/ }
  await t.rejects(answer(service, list, third), refusal)
  await answer(service, count, third)
  first.end()
  await answer(service, list, third)
  await t.rejects(answer(service, list, caller()), refusal)
  for (const one of [second, third, first]) one.end()
  await Promise.all([answer(service, list, caller()), answer(service, list, caller())])
})

t.test('a list that fails is over with its request, too', async (t) => {
  const { caller } = keyed({ concurrentLists: 1 })
  for (let i = 0; i < 3; i++) {
    const one = caller()
    await t.rejects(answer(service, { ...list, sources: [99] }, one), { code: 'UnknownSource' })
    one.end()
  }
  await answer(service, list, caller())
})

t.test(
  'a batch is refused from the list on that is too much, and told when to come again',
  async (t) => {
    const { memory, caller } = keyed({ rowsPerDay: 25 })
    const execute = (request: object, asker: Asker) => answer(service, { ...request }, asker)
    const stopped = await executeAll(execute, [list, count, list, list], caller()).catch((e) => e)
    t.match(stopped, { completedCount: 3, fault: { code: 'TooManyRequests' } })
    t.equal(rowsToday(memory), 2 * COUNT)
    const reply = memoryReply()
    sendError(reply, stopped)
    t.equal(reply.status, 429)
    const { retryAfterMs } = stopped.fault as TooManyRequests
    t.equal(reply.headers['Retry-After'], String(Math.ceil(retryAfterMs / 1_000)))
  },
)

t.test('a key without bounds counts nothing', async (t) => {
  const { memory, caller } = keyed({})
  await Promise.all(Array.from({ length: 20 }, () => answer(service, list, caller())))
  t.equal(rowsToday(memory), 0)
})
