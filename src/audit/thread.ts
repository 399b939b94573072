/**
 * Starts and stops the thread that writes an audit, for the main thread.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import { openPort, startThread, type Thread } from '../threads/thread.js'
import { type AuditClient, auditClient } from './client.js'
import { type AuditCounters, createAuditCounters } from './counters.js'
import { AuditWriter } from './writer.js'

export interface AuditThread extends Pick<Thread<AuditCalls>, 'failure' | 'stop'> {
  readonly counters: AuditCounters
  /** For another thread, which makes an `AuditClient` of it. */
  openPort(): MessagePort
  /** For this one. */
  readonly client: AuditClient
}

export interface AuditThreadData {
  readonly directory: string
  readonly keepDays: number | undefined
  readonly counters: Int32Array
}

/** What the main thread calls. */
export interface AuditCalls {
  /** Serves another thread, which has the other end. */
  serve(port: MessagePort): void
  /** Writes what waits, and ends. */
  stop(): Promise<void>
}

/** What the thread calls, for the log. */
export interface AuditNews {
  failed(reason: string): void
  recovered(lostCount: number): void
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
  const data: AuditThreadData = { directory, keepDays, counters }
  const own: AuditNews = {
    failed: (reason) =>
      log.error(
        { reason },
        'the audit cannot be written: lists and changes are refused until it can',
      ),
    recovered: (lostCount) => log.warn({ lostCount }, 'the audit can be written again'),
  }
  const thread = startThread<AuditCalls>('audit', { title: 'the thread of the audit', data, own })
  const open = () => openPort(thread.tell.serve)
  const { failure, stop } = thread
  return { counters, openPort: open, client: auditClient(open(), counters), failure, stop }
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
