/**
 * Calls between two threads. Each end has functions, which the other one calls by name; arguments and answers are plain data,
 * and ports among the arguments are handed over. Errors cross with their code and message.
 *
 * @module
 */
import { MessagePort } from 'node:worker_threads'
import {
  OperatorError,
  type OperatorErrorCode,
  ServiceError,
  type ServiceErrorCode,
} from '../errors.js'
import { quotesData } from '../log.js'

// biome-ignore lint/suspicious/noExplicitAny: the two ends say which arguments there are
type Functions = Readonly<Record<string, (...args: any[]) => unknown>>

/** The functions of the other end: each answer is a promise, which rejects with its error or when the thread ends. */
type Asked<Theirs> = {
  readonly [Name in keyof Theirs]: Theirs[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never
}

/** The same without an answer: an error is for the other end, where nothing catches it. */
type Told<Theirs> = {
  readonly [Name in keyof Theirs]: Theirs[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never
}

/** How long an answer may take, and what the call then rejects with. */
interface Patience {
  readonly waitMs: number
  readonly fault: () => Error
}

export interface OtherThread<Theirs> {
  readonly ask: Asked<Theirs>
  readonly tell: Told<Theirs>
  /** `ask`, where an answer that comes later is dropped. */
  askWithin(waitMs: number, fault: () => Error): Asked<Theirs>
  /** Rejects what was asked and what will be, for the first reason: the other end answers no more. */
  fail(reason: unknown): void
}

/** A MessagePort, or a Worker. */
interface Port {
  postMessage(message: Call | Answer, transferred: Transferred[]): void
  on(event: 'message', listener: (message: Call | Answer) => void): unknown
}

type Transferred = MessagePort | ArrayBuffer

interface Call {
  /** Undefined where no answer is wanted. */
  readonly number: number | undefined
  readonly name: string
  readonly args: readonly unknown[]
}

interface Answer {
  readonly answers: number
  readonly value?: unknown
  readonly fault?: Fault
}

type Fault =
  | { readonly of: 'operator'; readonly code: OperatorErrorCode; readonly message: string }
  | {
      readonly of: 'service'
      readonly code: ServiceErrorCode
      readonly message: string
      readonly field: string | undefined
    }

/**
 * @param port  one end; the other thread does the same with the other one. It keeps the thread alive until `unref`
 * @param own  the functions that the other end may call, looked up at each call
 */
export function callsOver<Theirs extends object>(
  port: Port,
  own: object = {},
): OtherThread<Theirs> {
  const functions = own as Functions
  const questions = new Questions<Answer>()
  const send = (number: number | undefined, name: string, args: readonly unknown[]) =>
    port.postMessage({ number, name, args }, args.flatMap(transferredWith))
  const asker = (patience?: Patience) =>
    byName(async (name, args) => {
      const { value, fault } = await questions.ask((number) => send(number, name, args), patience)
      if (fault !== undefined) throw errorOf(fault)
      return value
    }) as Asked<Theirs>
  port.on('message', (message) => {
    if ('answers' in message) return questions.settle(message.answers, message)
    const { number, name, args } = message
    if (number === undefined) return void functions[name](...args)
    void answered(number, async () => await functions[name](...args)).then((answer) =>
      port.postMessage(answer, transferredWith(answer.value)),
    )
  })
  return {
    ask: asker(),
    tell: byName((name, args) => send(undefined, name, args)) as Told<Theirs>,
    askWithin: (waitMs, fault) => asker({ waitMs, fault }),
    fail: (reason) => questions.fail(reason),
  }
}

const memoryOf = new WeakMap<object, ArrayBuffer[]>()

/** An argument or an answer, with memory that the other thread gets without a copy, and this one has no more. */
export function handingOver<Value extends object>(value: Value, memory: ArrayBuffer[]): Value {
  memoryOf.set(value, memory)
  return value
}

function transferredWith(value: unknown): Transferred[] {
  if (typeof value !== 'object' || value === null) return []
  return value instanceof MessagePort ? [value] : (memoryOf.get(value) ?? [])
}

function byName(call: (name: string, args: readonly unknown[]) => unknown): object {
  return new Proxy<Record<string, unknown>>(
    {},
    {
      get(made, name: string) {
        made[name] ??= (...args: readonly unknown[]) => call(name, args)
        return made[name]
      },
    },
  )
}

async function answered(answers: number, work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { answers, value: await work() }
  } catch (error) {
    return { answers, fault: faultOf(error) }
  }
}

function faultOf(error: unknown): Fault {
  if (error instanceof ServiceError) {
    const { code, message, field } = error
    return { of: 'service', code, message, field }
  }
  const code = error instanceof OperatorError ? error.code : 'Failed'
  const { name, message } = error as Error
  return { of: 'operator', code, message: quotesData(error) ? name : message }
}

function errorOf(fault: Fault): Error {
  if (fault.of === 'operator') return new OperatorError(fault.code, fault.message)
  return new ServiceError(fault.code, fault.message, fault.field)
}

interface Pending<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (fault: unknown) => void
}

/** Questions that are answered in any order: each has a number, and its answer has the same. */
export class Questions<Answer> {
  readonly #pending = new Map<number, Pending<Answer>>()
  #lastNumber = 0
  #fault: { readonly reason: unknown } | undefined

  /**
   * @param send  sends the question with its number
   * @param patience  by default, an answer may take any time
   */
  ask(send: (number: number) => void, patience?: Patience): Promise<Answer> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault.reason)
    const number = ++this.#lastNumber
    let timer: NodeJS.Timeout | undefined
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#pending.set(number, { resolve, reject })
      if (patience !== undefined) {
        timer = setTimeout(() => reject(patience.fault()), patience.waitMs)
      }
      send(number)
    })
    return answer.finally(() => {
      clearTimeout(timer)
      this.#pending.delete(number)
    })
  }

  /** To be called when an answer comes; one that is late is dropped. */
  settle(number: number, answer: Answer): void {
    this.#pending.get(number)?.resolve(answer)
  }

  /** Rejects what was asked and what will be. */
  fail(reason: unknown): void {
    this.#fault ??= { reason }
    for (const { reject } of this.#pending.values()) reject(reason)
  }
}
