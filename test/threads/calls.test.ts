import { MessageChannel, type MessagePort } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { OperatorError, ServiceError } from '../../src/errors.js'
import { callsOver, handingOver } from '../../src/threads/calls.js'
import { until } from '../support/service/until.js'

interface Desk {
  sum(one: number, other: number): number
  later(text: string): Promise<string>
  refuse(): void
  fail(): void
  quote(): void
  note(text: string): void
  take(port: MessagePort): void
  deny(): void
  fill(bytes: Uint8Array): Uint8Array
}

function ends(t: Test, desk: Partial<Desk>) {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  callsOver(port2, desk)
  return callsOver<Desk>(port1, {})
}

t.test('answers come to what was asked, in any order', async (t) => {
  const { ask } = ends(t, {
    sum: (one, other) => one + other,
    later: (text) => new Promise((resolve) => setTimeout(() => resolve(text), 20)),
  })
  const done: unknown[] = []
  const note = (value: unknown) => void done.push(value)
  await Promise.all([ask.later('a').then(note), ask.sum(1, 2).then(note), ask.sum(3, 4).then(note)])
  t.same(done, [3, 7, 'a'])
})

t.test('errors cross with their code and message', async (t) => {
  const { ask } = ends(t, {
    refuse() {
      throw new OperatorError('Usage', 'not so')
    },
    async fail() {
      throw new TypeError('broken')
    },
    quote: () => JSON.parse('+99912345'),
  })
  const usage = await ask.refuse().catch((fault: unknown) => fault)
  t.ok(usage instanceof OperatorError)
  t.match(usage, { code: 'Usage', message: 'not so' })
  await t.rejects(ask.fail(), { code: 'Failed', message: 'broken' })
  await t.rejects(ask.quote(), { code: 'Failed', message: 'SyntaxError' }, 'it may be a phone')
})

t.test('errors of requests cross with their code, status and field', async (t) => {
  const { ask } = ends(t, {
    deny() {
      throw new ServiceError('InvalidRequest', 'not so', 'radius')
    },
  })
  const fault = await ask.deny().catch((fault: unknown) => fault)
  t.ok(fault instanceof ServiceError)
  t.match(fault, { code: 'InvalidRequest', status: 400, message: 'not so', field: 'radius' })
})

t.test('an answer that takes too long is dropped', async (t) => {
  const answers: ((text: string) => void)[] = []
  const { ask, askWithin } = ends(t, {
    later: () => new Promise((resolve) => answers.push(resolve)),
    sum: (one, other) => one + other,
  })
  const late = askWithin(5, () => new Error('too late'))
  await t.rejects(late.later('a'), { message: 'too late' })
  await until(() => answers.length > 0)
  answers[0]('a')
  t.equal(await ask.sum(1, 2), 3)
  t.equal(await askWithin(60_000, () => new Error('too late')).sum(1, 2), 3)
})

t.test('memory is handed over without a copy, both ways', async (t) => {
  const filled: Uint8Array[] = []
  const { ask } = ends(t, {
    fill(bytes) {
      bytes.fill(7)
      filled.push(bytes)
      return handingOver(bytes, [bytes.buffer as ArrayBuffer])
    },
  })
  const bytes = new Uint8Array(4)
  const answer = await ask.fill(handingOver(bytes, [bytes.buffer]))
  t.same([...answer], [7, 7, 7, 7])
  t.equal(bytes.length, 0)
  t.equal(filled[0].length, 0)
})

t.test('what is told comes in order, and a function may be given later', async (t) => {
  const told: string[] = []
  const desk: Partial<Desk> = { note: (text) => told.push(`first ${text}`) }
  const { tell, ask } = ends(t, Object.assign(desk, { sum: () => 0 }))
  tell.note('a')
  tell.note('b')
  await ask.sum(0, 0)
  Object.assign(desk, { note: (text: string) => told.push(`then ${text}`) })
  tell.note('c')
  await ask.sum(0, 0)
  t.same(told, ['first a', 'first b', 'then c'])
})

t.test('a port is handed over', async (t) => {
  const heard: unknown[] = []
  const { tell } = ends(t, {
    take: (port) => {
      port.on('message', (message) => heard.push(message))
      t.teardown(() => port.close())
    },
  })
  const { port1, port2 } = new MessageChannel()
  tell.take(port2)
  port1.postMessage('through it')
  await until(() => heard.length > 0)
  t.same(heard, ['through it'])
})

t.test('where the other end is gone, what was asked and will be is rejected', async (t) => {
  const { ask, fail } = ends(t, { later: () => new Promise(() => {}) })
  const asked = ask.later('never')
  fail(new OperatorError('Failed', 'the thread ended'))
  await t.rejects(asked, { message: 'the thread ended' })
  await t.rejects(ask.sum(1, 2), { message: 'the thread ended' })
})
