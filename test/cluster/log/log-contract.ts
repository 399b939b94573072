/**
 * What every log of a cluster must keep to.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Log, LogFault, LogMessage } from '../../../src/cluster/log/log.js'
import { untilTold } from '../../support/service/until.js'

/** What a reader was told. */
export class Told {
  readonly messages: LogMessage[] = []
  fault: LogFault | undefined
  readonly stop: () => void

  constructor(log: Log, after = 0, generation?: string) {
    this.stop = log.follow(
      { after, generation },
      {
        onMessages: (messages) => {
          this.messages.push(...messages)
        },
        onFault: (fault) => {
          this.fault = fault
        },
      },
    )
  }

  get texts(): string[] {
    return this.messages.map(({ bytes }) => Buffer.from(bytes).toString())
  }

  get places(): number[] {
    return this.messages.map(({ place }) => place)
  }

  async until(count: number): Promise<void> {
    await untilTold(async () => this.messages.length >= count)
  }
}

/** Numbers of [start, end). */
const range = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, at) => start + at)

/**
 * @param open  opens the same empty log for another machine each time
 */
export async function keepsTheContract(t: Test, open: () => Promise<Log>): Promise<void> {
  const first = await open()
  const second = await open()
  const early = new Told(first)

  await t.test('the generation is that of all, and the log is empty', async (t) => {
    const info = await first.info()
    t.match(info.generation, /^[0-9a-f]{16}$/)
    t.match(info, { first: 1, end: 1, missingCount: 0 })
    t.equal((await second.info()).generation, info.generation)
  })

  await t.test('messages have places without gaps, and come in their order', async (t) => {
    t.equal(await first.append(Buffer.from('a1')), 1)
    t.equal(await second.append(Buffer.from('b1')), 2)
    t.equal(await first.append(Buffer.alloc(0)), 3)
    await early.until(3)
    t.same(early.texts, ['a1', 'b1', ''])
    t.same(early.places, [1, 2, 3])
  })

  await t.test('machines that append at the same time are told the same', async (t) => {
    const appends = range(0, 40).flatMap((at) => [
      first.append(Buffer.from(`a ${at}`)),
      second.append(Buffer.from(`b ${at}`)),
    ])
    const places = await Promise.all(appends)
    t.equal(new Set(places).size, 80)
    const later = new Told(second)
    await Promise.all([early.until(83), later.until(83)])
    t.same(later.messages, early.messages)
    t.same(early.places, range(1, 84))
    for (const name of ['a', 'b']) {
      const own = early.texts.filter((text) => text.startsWith(`${name} `))
      t.same(
        own,
        range(0, 40).map((at) => `${name} ${at}`),
        'in the order of the calls',
      )
    }
    later.stop()
  })

  await t.test('it is read from any place', async (t) => {
    for (const after of [0, 1, 41, 82]) {
      const told = new Told(second, after)
      await told.until(83 - after)
      t.same(told.messages, early.messages.slice(after))
      told.stop()
    }
    const read: (LogMessage | undefined)[] = []
    for await (const message of second.read(40, 84)) read.push(message)
    t.same(read, early.messages.slice(39))
    t.match(await second.info(), { first: 1, end: 84, missingCount: 0 })
  })

  await t.test('a reader is told more when it has done with what it was told', async (t) => {
    const told: number[] = []
    let isAtWork = false
    const start = { after: 0 }
    const stop = second.follow(start, {
      async onMessages(messages) {
        t.notOk(isAtWork)
        isAtWork = true
        await sleep(5)
        told.push(...messages.map(({ place }) => place))
        isAtWork = false
      },
      onFault() {},
    })
    await first.append(Buffer.from('c'))
    await untilTold(async () => told.length === 84)
    stop()
    t.same(told, range(1, 85))
  })

  await t.test('a log of another generation is not read', async (t) => {
    const { generation } = await first.info()
    const other = new Told(second, 0, 'f'.repeat(16))
    const same = new Told(second, 0, generation)
    await untilTold(async () => other.fault !== undefined)
    t.same(other.fault, { kind: 'other', generation })
    await same.until(84)
    t.equal(other.messages.length, 0)
    other.stop()
    same.stop()
  })

  await t.test('a message may be as long as is said', async (t) => {
    const longest = Buffer.alloc(first.messageBytes, 'x')
    t.equal(await first.append(longest), 85)
    await early.until(85)
    t.ok(longest.equals(early.messages[84].bytes))
  })

  await t.test('who has stopped is told nothing more', async (t) => {
    early.stop()
    await second.append(Buffer.from('d'))
    const late = new Told(first, 85)
    await late.until(1)
    t.equal(early.messages.length, 85)
    t.equal(early.fault, undefined)
    await untilTold(async () => late.fault === undefined)
    late.stop()
  })
}
