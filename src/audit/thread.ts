/**
 * The main thread's end of the thread that writes an audit.
 *
 * @module
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import { type AuditCounters, createAuditCounters } from './counters.js'
import { type AuditDesk, auditDesk } from './desk.js'
import type { AuditNews, AuditThreadData, AuditThreadOrder } from './messages.js'
import { AuditWriter } from './writer.js'

export interface AuditThread {
  readonly counters: AuditCounters
  /** For another thread, which makes an `AuditDesk` of it. */
  openPort(): MessagePort
  /** For this one. */
  readonly desk: AuditDesk
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  /** Writes what waits. */
  stop(): Promise<void>
}

interface AuditOptions {
  readonly directory: string
  readonly keepDays: number | undefined
  readonly log: Log
}

/**
 * @throws OperatorError  Failed, when there is no such directory and none can be made. One that is full
 *   is no reason not to start.
 */
export function startAudit({ directory, keepDays, log }: AuditOptions): AuditThread {
  prepare(directory)
  const counters = createAuditCounters()
  const workerData: AuditThreadData = { directory, keepDays, counters }
  const worker = new Worker(new URL('../../workers/audit.js', import.meta.url), { workerData })
  const send = (order: AuditThreadOrder, ports: MessagePort[] = []) =>
    worker.postMessage(order, ports)
  let isStopping = false
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failure = new Promise<never>((_, reject) => {
    const fail = (reason: string) =>
      reject(new OperatorError('Failed', `the thread of the audit failed: ${reason}`))
    worker.once('error', ({ name }) => fail(name))
    worker.once('exit', (code) => {
      if (!isStopping) fail(`it ended with code ${code}`)
    })
  })
  failure.catch(() => {})
  worker.on('message', (news: AuditNews) => tell(news, log))
  const openPort = () => {
    const { port1, port2 } = new MessageChannel()
    send({ kind: 'port', port: port1 }, [port1])
    return port2
  }
  return {
    counters,
    openPort,
    desk: auditDesk(openPort(), counters),
    failure,
    async stop() {
      isStopping = true
      send({ kind: 'stop' })
      await ended
    },
  }
}

function prepare(directory: string): void {
  try {
    new AuditWriter({ directory }).prepare()
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    if (code !== undefined && PASSING.has(code)) return
    const problem = `the audit directory ${directory} must be a directory of this user`
    const advice = 'name another one with --audit'
    throw new OperatorError('Failed', `${problem} (${code}): ${advice}`, { cause: fault })
  }
}

/** What may be over in a while: the service starts, and refuses lists until then. */
const PASSING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'])

function tell(news: AuditNews, log: Log): void {
  if (news.kind === 'failed') {
    const message = 'the audit cannot be written: lists and changes are refused until it can'
    log.error({ reason: news.reason }, message)
  }
  if (news.kind === 'recovered') {
    log.warn({ lostCount: news.lostCount }, 'the audit can be written again')
  }
}
