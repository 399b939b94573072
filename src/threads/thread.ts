/**
 * Threads of a service: how each is started, fails, and is stopped.
 *
 * @module
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { describeFault, type Log } from '../log.js'
import { callsOver, type OtherThread } from './calls.js'

/** See workers/thread.ts. */
export type ThreadName =
  | 'access-log'
  | 'audience'
  | 'audit'
  | 'changes'
  | 'cluster'
  | 'digests'
  | 'front'
  | 'suppressions'
  | 'tls'

/** The functions of every thread. */
interface ThreadCalls {
  /** Does what is open, and ends the thread. */
  // biome-ignore lint/suspicious/noExplicitAny: each says which arguments there are
  stop(...args: any[]): unknown
}

export interface Thread<Theirs extends ThreadCalls> extends OtherThread<Theirs> {
  /** Rejects when it fails, or ends before `stop`, as does what is asked. Never resolves. */
  readonly failure: Promise<never>
  readonly ended: Promise<void>
  /** Calls its `stop`, and resolves when it has ended. */
  stop(...args: Parameters<Theirs['stop']>): Promise<void>
  /** Ends it at once. */
  terminate(): Promise<unknown>
}

interface ThreadOptions {
  /** In messages: "the thread of … failed". */
  readonly title: string
  /** What it starts with. */
  readonly data: object
  /** Ports in the data, which are handed over. */
  readonly ports?: readonly MessagePort[]
  /** What it may call in this thread, looked up at each call. */
  readonly own?: object
  /** For an error of a thread whose failure ends nothing. */
  readonly log?: Log
}

/** What every thread may call in the one that started it. */
export interface StarterCalls {
  /** It cannot go on, and is still to be stopped. */
  threadFailed(reason: string): void
}

export function startThread<Theirs extends ThreadCalls>(
  name: ThreadName,
  { title, data, ports = [], own = {}, log }: ThreadOptions,
): Thread<Theirs> {
  const url = new URL('../../workers/thread.js', import.meta.url)
  const worker = new Worker(url, { workerData: { name, data }, transferList: [...ports] })
  let isStopping = false
  let fail: (reason: string) => void = () => {}
  const calls = callsOver<Theirs>(
    worker,
    Object.assign(own, { threadFailed: (reason: string) => fail(reason) }),
  )
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failure = new Promise<never>((_, reject) => {
    fail = (reason) => {
      const fault = new OperatorError('Failed', `${title} failed: ${reason}`)
      reject(fault)
      calls.fail(fault)
    }
    worker.once('error', (fault: NodeJS.ErrnoException) => {
      log?.error(describeFault(fault), `${title} failed`)
      fail(reasonOf(fault))
    })
    worker.once('exit', (code) => {
      if (isStopping) calls.fail(new OperatorError('Failed', `${title} has ended`))
      else fail(`it ended with code ${code}`)
    })
  })
  failure.catch(() => {})
  return {
    ...calls,
    failure,
    ended,
    async stop(...args) {
      const { stop } = calls.tell as { stop(...args: Parameters<Theirs['stop']>): void }
      if (!isStopping) stop(...args)
      isStopping = true
      await ended
    },
    terminate() {
      isStopping = true
      return worker.terminate()
    },
  }
}

/** The end of another thread's way to this one, which `take` gets the other end of. */
export function openPort(take: (port: MessagePort) => void): MessagePort {
  const { port1, port2 } = new MessageChannel()
  take(port1)
  return port2
}

/** Without the message, which could quote what the thread was working on, unless that says which library is missing. */
function reasonOf({ name, code, message }: NodeJS.ErrnoException): string {
  return UNLOADED.test(code ?? '') ? message : (code ?? name)
}

const UNLOADED = /^(ERR_)?(MODULE_NOT_FOUND|DLOPEN_FAILED)$/
