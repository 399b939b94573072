/**
 * Questions of one machine to another, and their answers, of any length.
 *
 * @module
 */
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

type Serve = (question: unknown, from: string) => Promise<unknown>

export class Calls {
  readonly #connection: Connection
  readonly #names: Names
  readonly #me: string
  readonly #serve: Serve
  readonly #questions = new Questions<Answered | 'absent'>()
  readonly #asked = new PartsGatherer()
  readonly #answered = new PartsGatherer()
  readonly #subscriptions: readonly Subscription[]

  /**
   * @param me  under which name others ask; a process that asks alone has one that nobody knows
   * @param serve  answers; what it throws, the other one hears of by its message
   */
  constructor(connection: Connection, names: Names, me: string, serve: Serve) {
    this.#connection = connection
    this.#names = names
    this.#me = me
    this.#serve = serve
    this.#subscriptions = [
      connection.subscribe(names.to(me), (part) => void this.#take(part)),
      connection.subscribe(names.re(me, '*'), (part) => this.#settle(part)),
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
      const call = String(number)
      const asked: Asked = { from: this.#me, call, question }
      this.#send(this.#names.to(name), pack(asked), this.#names.re(this.#me, call))
    }, patience)
    if (answered === 'absent') throw new CallFault('absent', `${name} is not there`)
    if ('fault' in answered) throw new CallFault('failed', answered.fault)
    return answered.answer
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    this.#questions.fail(new CallFault('failed', 'the connection is closed'))
  }

  async #take(part: Msg): Promise<void> {
    const message = this.#asked.add(part.data)
    const asked = message && (unpackOrNothing(message) as Asked | undefined)
    if (asked === undefined) return
    const { from, call, question } = asked
    const answered = await this.#serve(question, from).then(
      (answer): Answered => ({ answer }),
      (reason: Error): Answered => ({ fault: reason.message }),
    )
    this.#send(this.#names.re(from, call), pack(answered))
  }

  #settle(part: Msg): void {
    const number = Number(part.subject.slice(part.subject.lastIndexOf('.') + 1))
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
