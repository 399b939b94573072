/**
 * Questions of one machine to another, and their answers, of any length.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Msg, Subscription } from '@nats-io/transport-node'
import { Questions } from '../../questions.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { pack, unpackOrNothing } from './packing.js'
import { PartsGatherer, partsOf } from './parts.js'

/** Why there is no answer: nobody is there, nobody has answered in time, or whoever is there could not. */
class CallFault extends Error {
  readonly kind: 'absent' | 'late' | 'failed'

  constructor(kind: CallFault['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** As it travels. */
interface Asked {
  readonly from: string
  readonly call: string
  readonly question: unknown
}

type Answered = { readonly answer: unknown } | { readonly fault: string }

/** What a machine does with questions of other machines, and with those of operators. */
export interface Serves {
  readonly machine: Serve
  readonly operator: Serve
}

type Serve = (question: unknown) => Promise<unknown>

/**
 * Names of commands have two parts and those of machines one, so that whoever is let in for commands alone hears answers
 * to commands alone.
 */
const COMMAND_NAME = /^command\.[0-9a-f]{12}$/

/** A name that nobody has. */
export const drawnCommandName = (): string => `command.${randomBytes(6).toString('hex')}`

export class Calls {
  readonly #connection: Connection
  readonly #names: Names
  readonly #me: string
  readonly #addressOf: (name: string) => string
  readonly #questions = new Questions<Answered | 'absent'>()
  readonly #asked = new PartsGatherer()
  readonly #answered = new PartsGatherer()
  readonly #subscriptions: readonly Subscription[]
  /** An earlier process of this name may have asked what is answered only now: a vote, even. */
  readonly #mark = randomBytes(6).toString('hex')

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
    asksAs: keyof Serves = serves === undefined ? 'operator' : 'machine',
  ) {
    this.#connection = connection
    this.#names = names
    this.#me = me
    this.#addressOf = asksAs === 'operator' ? names.command : names.to
    this.#subscriptions = [
      connection.subscribe(names.re(me, '*'), (part) => this.#settle(part)),
      ...(serves === undefined ? [] : this.#taken(serves)),
    ]
  }

  /** @throws CallFault  as a rejection */
  async ask(name: string, question: unknown, waitMs: number): Promise<unknown> {
    if (!this.#connection.isUp) throw new CallFault('absent', 'there is no connection to NATS')
    const patience = {
      waitMs,
      fault: () => new CallFault('late', `${name} has not answered in ${waitMs} ms`),
    }
    const answered = await this.#questions.ask((number) => {
      const call = `${this.#mark}-${number}`
      const asked: Asked = { from: this.#me, call, question }
      this.#send(this.#addressOf(name), pack(asked), this.#names.re(this.#me, call))
    }, patience)
    if (answered === 'absent') throw new CallFault('absent', `${name} is not there`)
    if ('fault' in answered) throw new CallFault('failed', answered.fault)
    return answered.answer
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    this.#questions.fail(new CallFault('failed', 'the connection is closed'))
  }

  #taken({ machine, operator }: Serves): Subscription[] {
    const { to, command } = this.#names
    return [
      this.#connection.subscribe(to(this.#me), (part) => void this.#take(part, machine)),
      this.#connection.subscribe(command(this.#me), (part) => {
        // Nobody answers a machine in the name of another one because an operator says so.
        void this.#take(part, operator, ({ from }) => COMMAND_NAME.test(from))
      }),
    ]
  }

  async #take(part: Msg, serve: Serve, isTaken = (_: Asked) => true): Promise<void> {
    const message = this.#asked.add(part.data)
    const asked = message && (unpackOrNothing(message) as Asked | undefined)
    if (asked === undefined || !isTaken(asked)) return
    const { from, call, question } = asked
    const answered = await serve(question).then(
      (answer): Answered => ({ answer }),
      (reason: Error): Answered => ({ fault: reason.message }),
    )
    this.#send(this.#names.re(from, call), pack(answered))
  }

  #settle(part: Msg): void {
    const call = part.subject.slice(part.subject.lastIndexOf('.') + 1)
    const [mark, text] = call.split('-')
    if (mark !== this.#mark) return
    const number = Number(text)
    if (part.headers?.code === NO_RESPONDERS) this.#questions.settle(number, 'absent')
    else {
      const message = this.#answered.add(part.data)
      const answered = message && (unpackOrNothing(message) as Answered | undefined)
      if (answered !== undefined) this.#questions.settle(number, answered)
    }
  }

  #send(subject: string, message: Uint8Array, reply?: string): void {
    for (const part of partsOf(message, this.#connection.partBytes)) {
      this.#connection.publish(subject, part, reply)
    }
  }
}

/** What NATS says of nobody who listens. */
const NO_RESPONDERS = 503
