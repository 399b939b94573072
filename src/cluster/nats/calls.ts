/**
 * Questions of one machine to another, and their answers, of any length: those of machines and commands, and tasks of
 * requests between front threads.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Msg, Subscription } from '@nats-io/transport-node'
import { Questions } from '../../threads/calls.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { PartsGatherer, pack, partsOf, unpackOrNothing } from './parts.js'

/** The machine is not there, or has not answered in time. */
class NoAnswer extends Error {
  readonly kind: 'absent' | 'late'

  constructor(kind: 'absent' | 'late', message: string) {
    super(message)
    this.kind = kind
  }
}

/** Bytes that are asked and answered. */
class Exchange {
  readonly #connection: Connection
  readonly #replyOf: (call: string) => string
  readonly #questions = new Questions<Uint8Array | 'absent'>()
  readonly #asked = new PartsGatherer()
  readonly #answered = new PartsGatherer()
  readonly #subscriptions: Subscription[]
  /** An earlier process of this name may have asked what is answered only now. */
  readonly #mark = randomBytes(6).toString('hex')

  /** @param replyOf  where answers to a question are heard; to all of them by `*` */
  constructor(connection: Connection, replyOf: (call: string) => string) {
    this.#connection = connection
    this.#replyOf = replyOf
    this.#subscriptions = [connection.subscribe(replyOf('*'), (part) => this.#settle(part))]
  }

  /** @param answer  undefined where there is nothing to say */
  serve(
    subject: string,
    answer: (question: Uint8Array) => Promise<Uint8Array | undefined>,
    { queue, isTaken }: { queue?: string; isTaken?: (reply: string) => boolean } = {},
  ): void {
    const take = async ({ data, reply = '' }: Msg) => {
      const question = this.#asked.add(data)
      if (question === undefined || isTaken?.(reply) === false) return
      const found = await answer(question)
      if (found !== undefined && reply !== '') this.#send(() => reply, found)
    }
    this.#subscriptions.push(this.#connection.subscribe(subject, (part) => void take(part), queue))
  }

  /**
   * @param subjectOf  by how many parts the question has
   * @throws NoAnswer  as a rejection
   */
  async ask(
    name: string,
    subjectOf: (partCount: number) => string,
    question: Uint8Array,
    waitMs: number,
  ): Promise<Uint8Array> {
    if (!this.#connection.isUp) throw new NoAnswer('absent', 'there is no connection to NATS')
    const fault = () => new NoAnswer('late', `${name} has not answered in ${waitMs} ms`)
    const found = await this.#questions.ask(
      (number) => this.#send(subjectOf, question, this.#replyOf(`${this.#mark}-${number}`)),
      { waitMs, fault },
    )
    if (found === 'absent') throw new NoAnswer('absent', `${name} is not there`)
    return found
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    this.#questions.fail(new Error('the connection is closed'))
  }

  #settle({ subject, headers, data }: Msg): void {
    const [mark, number] = subject.slice(subject.lastIndexOf('.') + 1).split('-')
    if (mark !== this.#mark) return
    const found = headers?.code === NO_RESPONDERS ? 'absent' : this.#answered.add(data)
    if (found !== undefined) this.#questions.settle(Number(number), found)
  }

  #send(subjectOf: (partCount: number) => string, message: Uint8Array, reply?: string): void {
    const parts = [...partsOf(message, this.#connection.partBytes)]
    const subject = subjectOf(parts.length)
    for (const part of parts) this.#connection.publish(subject, part, reply)
  }
}

/** What NATS says of nobody who listens. */
const NO_RESPONDERS = 503

/** What a machine does with questions of other machines, and with those of operators. */
export interface Serves {
  readonly machine: Serve
  readonly operator: Serve
}

type Serve = (question: unknown) => Promise<unknown>

type Answered = { readonly answer: unknown } | { readonly fault: string }

/**
 * A name that nobody has. Names of commands have two parts and those of machines one, so that whoever is let in for commands
 * alone hears answers to commands alone.
 */
export const drawnCommandName = (): string => `command.${randomBytes(6).toString('hex')}`

const COMMAND_REPLY = /\.[0-9a-f]{12}\.[^.]+$/

export class Calls {
  readonly #exchange: Exchange
  readonly #subjectOf: (name: string) => string

  /**
   * @param me  under which name others ask; that of a command is drawn
   * @param serves  answers; what it throws, the other one hears of by its message. Undefined of a command, which is not
   *     asked
   * @param asksAs  as whom questions are asked: few of them are for operators
   */
  constructor(
    connection: Connection,
    names: Names,
    me: string,
    serves: Serves | undefined,
    asksAs: keyof Serves = 'machine',
  ) {
    this.#subjectOf = asksAs === 'operator' ? names.command : names.to
    this.#exchange = new Exchange(connection, (call) => names.re(me, call))
    if (serves === undefined) return
    // Nobody answers a machine in the name of another one because an operator says so.
    const isTaken = (reply: string) =>
      reply.startsWith(names.re('command', '')) && COMMAND_REPLY.test(reply)
    this.#exchange.serve(names.to(me), answeredBy(serves.machine))
    this.#exchange.serve(names.command(me), answeredBy(serves.operator), { isTaken })
  }

  /** @throws  as a rejection, why there is no answer */
  async ask(name: string, question: unknown, waitMs: number): Promise<unknown> {
    const subject = this.#subjectOf(name)
    const found = await this.#exchange.ask(name, () => subject, pack(question), waitMs)
    const answered = unpackOrNothing(found) as Answered | undefined
    if (answered === undefined) throw new Error(`the answer of ${name} cannot be read`)
    if ('fault' in answered) throw new Error(answered.fault)
    return answered.answer
  }

  close(): void {
    this.#exchange.close()
  }
}

const answeredBy = (serve: Serve) => async (question: Uint8Array) =>
  pack(
    await serve(unpackOrNothing(question)).then(
      (answer): Answered => ({ answer }),
      (reason: Error): Answered => ({ fault: reason.message }),
    ),
  )

interface TaskCallsOptions {
  readonly connection: Connection
  readonly names: Names
  /** Of this machine. */
  readonly name: string
  readonly frontIndex: number
  /** Undefined where there is nothing to say. */
  readonly answer: (question: Uint8Array) => Promise<Uint8Array | undefined>
}

/** Tasks of requests. One in one part goes to any front thread of a machine. */
export class TaskCalls {
  /** Of this thread, and of no other one. */
  readonly askerId = randomBytes(9).toString('hex')
  readonly #names: Names
  readonly #exchange: Exchange

  constructor({ connection, names, name, frontIndex, answer }: TaskCallsOptions) {
    this.#names = names
    this.#exchange = new Exchange(connection, (call) => names.found(this.askerId, call))
    this.#exchange.serve(names.tasks(name), answer, { queue: 'fronts' })
    this.#exchange.serve(names.tasksOf(name, frontIndex), answer)
  }

  /** @throws  as a rejection, where the machine is not there, or has not answered in time */
  ask(machine: string, question: Uint8Array, waitMs: number): Promise<Uint8Array> {
    // The first front thread of each machine takes what is long.
    const subjectOf = (partCount: number) =>
      partCount === 1 ? this.#names.tasks(machine) : this.#names.tasksOf(machine, 0)
    return this.#exchange.ask(machine, subjectOf, question, waitMs)
  }

  close(): void {
    this.#exchange.close()
  }
}
