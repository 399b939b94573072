/**
 * Questions of one machine to another by way of a real server of NATS.
 */
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { Calls, drawnCommandName } from '../../../src/cluster/nats/calls.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { until } from '../../support/service/until.js'
import { connected } from '../support/connected.js'
import { type NatsServer, startNatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

const names = namesOf('test')

/** For what is answered or refused long before. */
const LONG_MS = 60_000

type Serve = (question: unknown) => Promise<unknown>

async function machine(t: Test, nats: NatsServer, name: string, serve: Serve): Promise<Calls> {
  const connection = await connected(t, nats)
  const calls = new Calls(connection, names, name, {
    machine: serve,
    operator: async (question) => ({ toOperator: question }),
  })
  await connection.nats.flush()
  return calls
}

/** Answers with what it was asked. */
const echo: Serve = async (question) => ({ echo: question })

withEachNats(t, async (t, server) => {
  const nats = await startNatsServer(t, { server })

  t.test('a question is answered, and its fault told', async (t) => {
    const one = await machine(t, nats, 'one', echo)
    await machine(t, nats, 'other', async (question) => {
      if (question === 'fail') throw new Error('the disk is full')
      return { echo: question }
    })
    t.same(await one.ask('other', { kind: 'hello' }, LONG_MS), { echo: { kind: 'hello' } })
    await t.rejects(one.ask('other', 'fail', LONG_MS), { message: 'the disk is full' })
  })

  t.test('nobody by that name is told at once, and no answer in time', async (t) => {
    const one = await machine(t, nats, 'one', echo)
    await t.rejects(one.ask('nobody', 1, LONG_MS), {
      kind: 'absent',
      message: 'nobody is not there',
    })
    await machine(t, nats, 'silent', () => new Promise(() => {}))
    const message = 'silent has not answered in 200 ms'
    await t.rejects(one.ask('silent', 1, 200), { kind: 'late', message })
  })

  t.test('many questions at once are answered in any order, each with its own', async (t) => {
    const one = await machine(t, nats, 'one', echo)
    const waiting: (() => void)[] = []
    await machine(t, nats, 'other', async (question) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { echo: question }
    })
    const numbers = Array.from({ length: 200 }, (_, number) => number)
    const answers = Promise.all(numbers.map((number) => one.ask('other', number, LONG_MS)))
    await until(() => waiting.length === numbers.length)
    for (const answer of waiting.reverse()) answer()
    t.same(
      await answers,
      numbers.map((number) => ({ echo: number })),
    )
  })

  t.test('questions and answers may be longer than what NATS takes at once', async (t) => {
    const small = await startNatsServer(t, { server, settings: 'max_payload: 65536' })
    for (const [where, byteCount] of [
      [nats, 20 * 1_048_576],
      [small, 4 * 1_048_576],
    ] as const) {
      const one = await machine(t, where, 'one', echo)
      await machine(t, where, 'other', echo)
      const bytes = randomBytes(byteCount)
      const { echo: answer } = (await one.ask('other', bytes, LONG_MS)) as { echo: Buffer }
      t.equal(answer.length, byteCount)
      t.ok(bytes.equals(answer))
    }
  })

  t.test('an answer to an earlier process of that name is none to this one', async (t) => {
    const waiting: (() => void)[] = []
    await machine(t, nats, 'other', async (question) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { echo: question }
    })
    const earlier = await machine(t, nats, 'one', echo)
    const unanswered = t.rejects(earlier.ask('other', 'earlier', LONG_MS), {
      message: 'the connection is closed',
    })
    await until(() => waiting.length === 1)
    earlier.close()
    await unanswered
    const later = await machine(t, nats, 'one', echo)
    const answer = later.ask('other', 'later', LONG_MS)
    await until(() => waiting.length === 2)
    // In the order in which they were asked.
    for (const go of waiting) go()
    t.same(await answer, { echo: 'later' })
  })

  t.test('an operator is answered as one, and no machine is taken for one', async (t) => {
    const one = await machine(t, nats, 'one', echo)
    const command = new Calls(
      await connected(t, nats),
      names,
      drawnCommandName(),
      undefined,
      'operator',
    )
    t.same(await command.ask('one', 'status', LONG_MS), { toOperator: 'status' })
    t.same(await one.ask('one', 'itself', LONG_MS), { echo: 'itself' })
    const impostor = new Calls(await connected(t, nats), names, 'other', undefined, 'operator')
    await t.rejects(impostor.ask('one', 'status', 200), {
      message: 'one has not answered in 200 ms',
    })
  })

  t.test('without NATS, questions fail at once, and are answered when it is back', async (t) => {
    const own = await startNatsServer(t, { server })
    const connection = await connected(t, own)
    const one = new Calls(connection, names, 'one', undefined, 'operator')
    const other = await connected(t, own)
    new Calls(other, names, 'other', { machine: echo, operator: echo })
    await own.stop()
    await until(() => !connection.isUp && !other.isUp)
    const message = 'there is no connection to NATS'
    await t.rejects(one.ask('other', 1, LONG_MS), { message })
    await own.start()
    await until(() => connection.isUp && other.isUp)
    await other.nats.flush()
    // As an operator, by its drawn name alone.
    const command = new Calls(connection, names, drawnCommandName(), undefined, 'operator')
    t.same(await command.ask('other', 2, LONG_MS), { echo: 2 })
  })
})
