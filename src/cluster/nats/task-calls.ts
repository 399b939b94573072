/**
 * Tasks of requests between front threads of machines, as bytes of any length. A task in one part goes to any front
 * thread of a machine.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Msg } from '@nats-io/transport-node'
import { Questions } from '../../questions.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { PartsGatherer, partsOf } from './parts.js'

interface TaskCallsOptions {
  readonly connection: Connection
  readonly names: Names
  /** Of this machine. */
  readonly name: string
  readonly frontIndex: number
  /** Undefined where there is nothing to say. */
  readonly answer: (question: Uint8Array) => Promise<Uint8Array | undefined>
}

export class TaskCalls {
  /** Of this thread, and of no other one. */
  readonly askerId = randomBytes(9).toString('hex')
  readonly #options: TaskCallsOptions
  readonly #questions = new Questions<Uint8Array | 'absent'>()
  readonly #asked = new PartsGatherer()
  readonly #found = new PartsGatherer()

  constructor(options: TaskCallsOptions) {
    this.#options = options
    const { connection, names, name, frontIndex } = options
    const take = (part: Msg) => void this.#take(part)
    connection.subscribe(names.found(this.askerId, '*'), (part) => this.#settle(part))
    connection.subscribe(names.tasks(name), take, 'fronts')
    connection.subscribe(names.tasksOf(name, frontIndex), take)
  }

  /** Rejects where the machine is not there, or has not answered in time. */
  async ask(machine: string, question: Uint8Array, waitMs: number): Promise<Uint8Array> {
    const { connection, names } = this.#options
    if (!connection.isUp) throw new Error('there is no connection to NATS')
    const patience = { waitMs, fault: () => new Error(`${machine} has not answered in time`) }
    const found = await this.#questions.ask((number) => {
      const reply = names.found(this.askerId, String(number))
      const parts = [...partsOf(question, connection.partBytes)]
      // The first front thread of each machine takes what is long.
      const subject = parts.length === 1 ? names.tasks(machine) : names.tasksOf(machine, 0)
      for (const part of parts) connection.publish(subject, part, reply)
    }, patience)
    if (found === 'absent') throw new Error(`${machine} is not there`)
    return found
  }

  close(): void {
    this.#questions.fail(new Error('the connection is closed'))
  }

  async #take({ data, reply }: Msg): Promise<void> {
    const { connection, answer } = this.#options
    const question = this.#asked.add(data)
    if (question === undefined || reply === undefined) return
    const found = await answer(question)
    if (found === undefined) return
    for (const part of partsOf(found, connection.partBytes)) connection.publish(reply, part)
  }

  #settle({ subject, headers, data }: Msg): void {
    const number = Number(subject.slice(subject.lastIndexOf('.') + 1))
    if (headers?.code === NO_RESPONDERS) this.#questions.settle(number, 'absent')
    else {
      const found = this.#found.add(data)
      if (found !== undefined) this.#questions.settle(number, found)
    }
  }
}

/** What NATS says of nobody who listens. */
const NO_RESPONDERS = 503
