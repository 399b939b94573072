/**
 * What every log of a cluster must keep to.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import {
  digestOf,
  type Log,
  type LogFault,
  type LogFounding,
  type LogMessage,
  type LogStart,
} from '../../../src/cluster/log/log.js'
import { untilTold } from '../../support/service/until.js'

/** What a reader was told. */
export class Told {
  readonly messages: LogMessage[] = []
  fault: LogFault | undefined
  readonly faults: LogFault[] = []
  readonly stop: () => void

  constructor(log: Log, after = 0, known: Omit<LogStart, 'after'> = {}) {
    this.stop = log.follow(
      { after, ...known },
      {
        onMessages: (messages) => {
          this.messages.push(...messages)
        },
        onFault: (fault) => {
          this.fault = fault
          if (fault !== undefined) this.faults.push(fault)
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

  async untilFault(kind: LogFault['kind'] | undefined): Promise<void> {
    await untilTold(async () => this.fault?.kind === kind)
  }
}

/** Servers on which a log can be. */
export interface LogServers {
  /** The way of another machine to them. */
  open(): Promise<Log>
  /** As a machine does, and an operator. */
  found(founding: LogFounding): Promise<void>
  replace(founding: LogFounding, replaced: string): Promise<number>
  /** As what must not happen. */
  remove(): Promise<void>
}

export const FOUNDING: LogFounding = {
  generation: '0123456789abcdef',
  founder: 'site-a',
  base: { sequence: 1_000_000_000_000, hash: 'ab'.repeat(32) },
}

const OTHER: LogFounding = {
  generation: 'f'.repeat(16),
  founder: 'site-b',
  base: { sequence: 7, hash: 'cd'.repeat(32) },
}

/** Numbers of [start, end). */
const range = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, at) => start + at)

/** @param servers  without a log */
export async function keepsTheContract(t: Test, servers: LogServers): Promise<void> {
  const first = await servers.open()
  const second = await servers.open()
  const early = new Told(first)

  await t.test('a log is missing until it is founded, and that once', async (t) => {
    await early.untilFault('missing')
    t.same(early.fault, { kind: 'missing' })
    t.equal(await first.info(), undefined)
    await t.rejects(first.append(Buffer.from('lost')))
    await t.rejects(async () => {
      for await (const _ of first.read(1, 2)) t.fail('there is nothing to read')
    })
    await servers.found(FOUNDING)
    const empty = { ...FOUNDING, first: 1, end: 1, missingCount: 0 }
    for (const log of [first, second]) t.match(await log.info(), empty)
    await early.untilFault(undefined)
    await servers.found(FOUNDING)
    await t.rejects(servers.found(OTHER), /there is a log of generation 0123456789abcdef/)
    t.match(await first.info(), empty)
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
    for (const [after, beforeCount] of [0, 1, 41, 82].flatMap((after) => [
      [after, 0],
      [after, 5],
      [after, 1_000],
    ])) {
      const told = new Told(second, after, { beforeCount })
      const begin = Math.max(0, after - beforeCount)
      await told.until(83 - begin)
      t.same(told.messages, early.messages.slice(begin))
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
    const { generation } = FOUNDING
    const other = new Told(second, 0, { generation: OTHER.generation })
    const same = new Told(second, 0, { generation })
    await untilTold(async () => other.fault !== undefined)
    t.same(other.fault, { kind: 'other', generation, base: FOUNDING.base })
    await same.until(84)
    t.equal(other.messages.length, 0)
    other.stop()
    same.stop()
  })

  await t.test('who goes on behind a message finds out whether it is still that one', async (t) => {
    const known = { digest: digestOf(early.messages[40]), beforeCount: 7 }
    const same = new Told(second, 41, known)
    const other = new Told(second, 42, known)
    const behind = new Told(second, 85, known)
    await Promise.all([same.until(50), other.untilFault('changed'), behind.untilFault('lost')])
    t.same(same.messages, early.messages.slice(34))
    t.same(other.fault, { kind: 'changed', place: 42 })
    t.same(behind.fault, { kind: 'lost', place: 85, end: 85 })
    t.same([...other.messages, ...behind.messages], [])
    for (const told of [same, other, behind]) told.stop()
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

  await t.test('a log that was missing is read on where it is what was read', async (t) => {
    const told = new Told(second)
    await told.until(86)
    const before = [...told.messages]
    await servers.remove()
    await told.untilFault('missing')
    await t.rejects(first.append(Buffer.from('lost')))
    await servers.found(FOUNDING)
    await told.untilFault('lost')
    for (const { bytes } of before) await first.append(bytes)
    await told.untilFault(undefined)
    t.equal(await first.append(Buffer.from('e')), 87)
    await told.until(87)
    t.same(told.messages.slice(0, 86), before)
    t.equal(told.texts[86], 'e')
    told.stop()
  })

  await t.test('a log that is replaced is another one, and replaced once', async (t) => {
    const told = new Told(first, 87, { generation: FOUNDING.generation })
    await t.rejects(servers.replace(OTHER, 'e'.repeat(16)), 'another one is to be replaced')
    t.match(await first.info(), FOUNDING)
    t.equal(await servers.replace(OTHER, FOUNDING.generation), 87)
    await told.untilFault('other')
    t.same(told.fault, { kind: 'other', generation: OTHER.generation, base: OTHER.base })
    t.equal(await second.append(Buffer.from('of the other one')), 1)
    t.equal(await servers.replace(OTHER, FOUNDING.generation), 0)
    t.match(await first.info(), { ...OTHER, first: 1, end: 2 })
    t.equal(told.messages.length, 0)
    told.stop()
    await servers.remove()
    t.equal(await servers.replace(FOUNDING, OTHER.generation), 0)
    t.match(await first.info(), { ...FOUNDING, first: 1, end: 1 })
  })
}
