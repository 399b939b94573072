/**
 * Three machines of a cluster as processes, which can be stopped and started again where they were, and clients of them.
 *
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { journalDirectory } from '../../../src/journal/files.js'
import { JournalReader } from '../../../src/journal/reader.js'
import { seededRandom } from '../../support/random/world.js'
import { freePort } from '../../support/service/free-port.js'
import { type Service, temporaryDirectory } from '../../support/service/hickory.js'
import { untilTold } from '../../support/service/until.js'
import { closeCalls } from '../faults/calls.js'
import { type ClientOptions, Clients, isReady, type Reached } from '../faults/clients.js'
import { CHANGED_SOURCE, csvOf, importCsv, OPTING_SOURCE } from '../faults/crowd.js'
import { untilSameEnd, verify } from '../faults/oracle.js'
import { Witness } from '../faults/witness.js'
import { type CuttableWay, cuttableWay } from './cuttable-way.js'
import { serveMachine } from './machines.js'
import { type NatsServer, startNatsServer } from './nats-servers.js'

const NAMES = ['site-a', 'site-b', 'site-c'] as const

/** So that a machine which fell silent is waited for as briefly as may be. */
export const LAG_SECONDS = 15
const FLAGS = ['--max-lag', String(LAG_SECONDS)]

interface ThreeOptions {
  readonly seed: number
  /** Of the source that is changed, and of the one whose recipients opt out. */
  readonly peopleCount: number
  readonly optingCount: number
}

export interface Three {
  readonly nats: NatsServer
  /** The first one has founded the cluster. */
  readonly machines: readonly [Machine, Machine, Machine]
  clients(options?: Partial<ClientOptions>): Clients
  /** What is wrong with what clients were told, and with the journals. */
  check(clients: Clients): Promise<readonly string[]>
}

interface MachineOptions extends Reached {
  readonly data: string
  readonly way: CuttableWay
  readonly start: () => Promise<Service>
}

export class Machine implements Reached {
  readonly name: string
  readonly data: string
  readonly url: string
  /** To NATS. */
  readonly way: CuttableWay
  readonly #start: () => Promise<Service>
  #service: Service | undefined

  constructor(options: MachineOptions) {
    this.name = options.name
    this.data = options.data
    this.url = options.url
    this.way = options.way
    this.#start = options.start
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error(`${this.name} does not run`)
    return this.#service
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    this.#service = await this.#start()
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.service.process.kill(signal)
  }

  /** @returns the exit code; null where it was killed */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const { code } = await this.service.stop(signal)
    this.#service = undefined
    return code
  }

  async untilReady(): Promise<void> {
    await untilTold(() => isReady(this), 60_000)
  }
}

/** Starts them one by one, with a server of NATS; ended with the test. */
export async function startThree(t: Test, options: ThreeOptions): Promise<Three> {
  const { seed, peopleCount, optingCount } = options
  const random = seededRandom(seed)
  const nats = await startNatsServer(t)
  const place = temporaryDirectory(t)
  t.teardown(closeCalls)
  const machines: Machine[] = []
  for (const name of NAMES) {
    const data = join(place, name)
    mkdirSync(data)
    const port = await freePort()
    const way = await cuttableWay(t, Number(new URL(nats.url).port))
    const server = `nats://127.0.0.1:${way.port}`
    const monitor = ['--nats-monitor', nats.monitor]
    const reach = ['--cluster', server, ...monitor, ...FLAGS, '--port', String(port)]
    const start = () => serveMachine(t, { name, data, reach })
    machines.push(new Machine({ name, data, way, url: `http://127.0.0.1:${port}`, start }))
  }
  const [a, b, c] = machines
  const csv = csvOf(random, CHANGED_SOURCE, peopleCount)
  await importCsv(a.data, CHANGED_SOURCE, csv)
  await importCsv(a.data, OPTING_SOURCE, csvOf(random, OPTING_SOURCE, optingCount))
  await a.start()
  await Promise.all([b.start(), c.start()])
  const all = { seed, peopleCount: 2 * peopleCount, optingCount, changeCounts: [20, 20] as const }
  return {
    nats,
    machines: [a, b, c],
    clients: (more) => new Clients(machines, { ...all, ...more }),
    async check(clients) {
      const end = await untilSameEnd(machines.map(({ data }) => data))
      const problems = end === undefined ? ['the journals do not end alike'] : []
      const journals = machines.map(({ data }) => journalBytes(data))
      for (const [at, { name }] of machines.entries()) {
        if (!areAlike(journals[0], journals[at])) problems.push(`the journal of ${name} differs`)
      }
      const witness = new Witness()
      witness.collect([a.data])
      return [...problems, ...clients.problems, ...verify(clients, csv, witness).problems]
    },
  }
}

interface JournalBytes {
  /** The sequence before the first record. */
  readonly since: number
  readonly records: readonly Buffer[]
}

/** Each record up to what is committed, as it is on disk. */
function journalBytes(data: string): JournalBytes {
  const reader = new JournalReader(journalDirectory(data))
  try {
    const since = reader.head().first.after.sequence
    return { since, records: [...reader.records(since)].map(({ bytes }) => Buffer.from(bytes)) }
  } finally {
    reader.close()
  }
}

/** From where both have them; a machine that came later may begin later. */
function areAlike(one: JournalBytes, other: JournalBytes): boolean {
  const since = Math.max(one.since, other.since)
  const left = one.records.slice(since - one.since)
  const right = other.records.slice(since - other.since)
  return left.length > 0 && Buffer.concat(left).equals(Buffer.concat(right))
}
