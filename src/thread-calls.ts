/**
 * Calls between two threads. Each end has functions, which the other one calls by name; arguments and answers are plain data,
 * and ports among the arguments are handed over. Errors cross with their code and message.
 *
 * @module
 */
import { MessagePort } from 'node:worker_threads'
import { OperatorError, type OperatorErrorCode } from './errors.js'
import { Questions } from './questions.js'

// biome-ignore lint/suspicious/noExplicitAny: the two ends say which arguments there are
type Functions = Readonly<Record<string, (...args: any[]) => unknown>>

/** The functions of the other end: each answer is a promise, which rejects with an OperatorError or when the thread ends. */
type Asked<Theirs> = {
  readonly [Name in keyof Theirs]: Theirs[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never
}

/** The same without an answer: a fault is for the other end, where nothing catches it. */
type Told<Theirs> = {
  readonly [Name in keyof Theirs]: Theirs[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never
}

export interface OtherThread<Theirs> {
  readonly ask: Asked<Theirs>
  readonly tell: Told<Theirs>
  /** Rejects what was asked and what will be: the other end answers no more. */
  fail(reason: unknown): void
}

interface Call {
  /** Undefined where no answer is wanted. */
  readonly number: number | undefined
  readonly name: string
  readonly args: readonly unknown[]
}

interface Answer {
  readonly answers: number
  readonly value?: unknown
  readonly fault?: { readonly code: OperatorErrorCode; readonly message: string }
}

/** A MessagePort, or a Worker. */
interface Port {
  postMessage(message: Call | Answer, transferred: MessagePort[]): void
  on(event: 'message', listener: (message: Call | Answer) => void): unknown
}

/** @param own  the functions that the other end may call, looked up at each call */
export function callsOver<Theirs extends object>(port: Port, own: object): OtherThread<Theirs> {
  const functions = own as Functions
  const questions = new Questions<Answer>()
  const send = (number: number | undefined, name: string, args: readonly unknown[]) =>
    port.postMessage({ number, name, args }, args.filter(isPort))
  port.on('message', (message) => {
    if ('answers' in message) return questions.settle(message.answers, message)
    const { number, name, args } = message
    if (number === undefined) return void functions[name](...args)
    void answered(number, async () => await functions[name](...args)).then((answer) =>
      port.postMessage(answer, []),
    )
  })
  return {
    ask: byName(async (name, args) => {
      const { value, fault } = await questions.ask((number) => send(number, name, args))
      if (fault !== undefined) throw new OperatorError(fault.code, fault.message)
      return value
    }) as Asked<Theirs>,
    tell: byName((name, args) => send(undefined, name, args)) as Told<Theirs>,
    fail: (reason) => questions.fail(reason),
  }
}

const isPort = (value: unknown): value is MessagePort => value instanceof MessagePort

function byName(call: (name: string, args: readonly unknown[]) => unknown): object {
  return new Proxy(
    {},
    {
      get:
        (_, name: string) =>
        (...args: readonly unknown[]) =>
          call(name, args),
    },
  )
}

async function answered(answers: number, work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { answers, value: await work() }
  } catch (fault) {
    const code = fault instanceof OperatorError ? fault.code : 'Failed'
    return { answers, fault: { code, message: (fault as Error).message } }
  }
}
