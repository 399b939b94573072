/**
 * How a thread has lines written to an audit, which one thread writes for all.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { callsOver } from '../threads/calls.js'
import { type AuditCounters, addTo } from './counters.js'

/** What the writing thread does for the others. */
export interface LineCalls {
  /**
   * Writes lines before it answers.
   *
   * @returns the sequence of the first line; undefined if they could not be written
   */
  record(entries: readonly string[]): Promise<number | undefined>
  /** Writes lines some time. */
  note(entries: readonly string[]): void
}

export interface AuditClient {
  /**
   * Resolves with the sequence of the first line when all are on disk.
   *
   * @param entries  see `entryOf`
   * @throws ServiceError  AuditUnavailable, as a rejection
   */
  record(entries: readonly string[]): Promise<number>
  /** Has a line written some time. If too many wait to be written, it is counted instead. */
  note(entry: string): void
}

/** @param port  to the thread that writes */
export function auditClient(
  port: MessagePort,
  counters: AuditCounters,
  waitMs: number = limits.auditLineMs,
): AuditClient {
  const thread = callsOver<LineCalls>(port)
  port.unref()
  const ask = thread.askWithin(waitMs, unavailable)
  let notes: string[] = []
  const sendNotes = () => {
    thread.tell.note(notes)
    notes = []
  }
  return {
    async record(entries) {
      const sequence = await ask.record(entries)
      if (sequence === undefined) throw unavailable()
      return sequence
    },
    note(entry) {
      if (addTo(counters, 'waiting', 1) >= limits.auditWaitingCount) {
        addTo(counters, 'waiting', -1)
        addTo(counters, 'lost', 1)
        return
      }
      if (notes.length === 0) setImmediate(sendNotes)
      notes.push(entry)
    },
  }
}

function unavailable(): ServiceError {
  return new ServiceError('AuditUnavailable', UNAVAILABLE)
}

const UNAVAILABLE =
  'nothing is sent or changed that the audit cannot record, and it cannot be written now; counts go on'
