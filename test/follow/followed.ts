/**
 * A table that is followed for a test: the command as a process of its own, and the people who are in the data
 * directory by the snapshot and the journal.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { everywhere } from '../support/data/everywhere.js'
import { type People, peopleIn as peopleInSources } from '../support/data/people.js'
import type { PostgresServer } from '../support/data/postgres-server.js'
import { type Owner, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

const ENDED_MS = 60_000

export interface Ended {
  readonly code: number | null
  readonly output: string
}

export class Followed {
  readonly data: string
  readonly #server: PostgresServer
  readonly #table: string
  readonly #url: string
  #process: ChildProcess | undefined
  #output = ''
  #service: Service | undefined
  #ended: Promise<Ended> | undefined

  constructor(t: Owner, server: PostgresServer, table: string) {
    this.data = temporaryDirectory(t)
    this.#server = server
    this.#table = table
    this.#url = server.url()
    t.teardown(() => this.kill())
  }

  /** With the copy, and resolves when changes come. */
  async copy(...args: readonly string[]): Promise<void> {
    await this.start('--initial-copy', '--label', 'People', '--max-rejected', '100%', ...args)
  }

  /** Resolves when changes come. */
  async start(...args: readonly string[]): Promise<void> {
    this.#spawn(args)
    const ended = this.#ended
    while (!this.#output.includes('"msg":"following"')) {
      const early = await Promise.race([ended, sleep(20)])
      if (early !== undefined) throw new Error(`it ended with ${early.code}: ${early.output}`)
    }
  }

  /** Resolves when it has ended by itself. */
  async fail(...args: readonly string[]): Promise<Ended> {
    this.#spawn(args)
    return await this.ended()
  }

  async ended(): Promise<Ended> {
    if (this.#ended === undefined) throw new Error('it was not started')
    const late = sleep(ENDED_MS, undefined, { ref: false })
    const ended = await Promise.race([this.#ended, late])
    if (ended !== undefined) return ended
    throw new Error(`it goes on: ${this.#output}`)
  }

  async stop(): Promise<Ended> {
    this.#process?.kill('SIGTERM')
    return await this.ended()
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#ended
  }

  /** Runs another command on the data directory. */
  async command(...args: readonly string[]): Promise<Ended> {
    return await endOf(spawn(process.execPath, [CLI, ...args, '--data', this.data]))
  }

  /** Imports the table into another directory. */
  async imported(t: Owner, ...args: readonly string[]): Promise<People> {
    const data = temporaryDirectory(t)
    const source = ['--source', '1', '--label', 'x', '--key', 'id', '--data', data]
    const from = ['--from', this.#server.url(), '--query', `select * from ${this.#table}`]
    const guards = ['--max-rejected', '100%', '--allow-empty']
    const flags = ['import', ...source, ...from, ...guards, ...args]
    const { code, output } = await endOf(spawn(process.execPath, [CLI, ...flags]))
    if (code !== 0) throw new Error(`the import failed: ${output}`)
    return await peopleIn(data)
  }

  /** Waits until those are there who would be after an import. */
  async reached(t: Owner, ...args: readonly string[]): Promise<boolean> {
    const people = await this.imported(t, ...args)
    const expected = texts(people)
    for (let round = 0; round < 400; round++) {
      if (texts(await peopleIn(this.data)) === expected && (await this.#answers(people)))
        return true
      await sleep(25)
    }
    return false
  }

  /** From now on, whoever is reached is also asked for. */
  async serve(t: Owner): Promise<void> {
    this.#service = await serve(t, '--data', this.data)
  }

  /** Whether a running service lists just these people. */
  async #answers(people: People): Promise<boolean> {
    if (this.#service === undefined) return true
    const response = await fetch(`${this.#service.url}/api/recipients?format=csv`, {
      method: 'POST',
      headers: { connection: 'close', 'content-type': 'application/json' },
      body: JSON.stringify({ geoJSON: everywhere, sources: [1] }),
    })
    const [, ...rows] = (await response.text()).trimEnd().split('\r\n')
    const listed = rows.map((row) => row.split(',').slice(-3).join(' '))
    const expected = [...people.values()].map((text) => {
      const [phone, lng, lat] = JSON.parse(text)
      return `${phone} ${lat / 1e7} ${lng / 1e7}`
    })
    return listed.sort().join() === expected.sort().join()
  }

  #spawn(args: readonly string[]): void {
    const flags = ['follow', this.#url, '--table', this.#table, '--source', '1']
    this.#output = ''
    const child = spawn(process.execPath, [CLI, ...flags, '--data', this.data, ...args])
    this.#process = child
    this.#ended = endOf(child, (text) => {
      this.#output += text
    })
  }
}

function endOf(child: ChildProcess, onText: (text: string) => void = () => {}): Promise<Ended> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      output += bytes
      onText(String(bytes))
    })
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

function texts(people: People): string {
  return [...people]
    .map(([key, text]) => `${key} ${text}`)
    .sort()
    .join('\n')
}

/** Those of source 1: of the snapshot, and after the changes that it does not have. */
export async function peopleIn(data: string): Promise<People> {
  return (await peopleInSources(data)).get(1) ?? new Map()
}
