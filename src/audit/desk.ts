/**
 * Where a thread hands in what an audit is to say.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { Questions } from '../questions.js'
import { type AuditCounters, addTo } from './counters.js'
import type { AuditOrder, AuditReply } from './messages.js'

export interface AuditDesk {
  /**
   * Resolves with the sequence of the first line when all are on disk.
   *
   * @param entries  see `entryOf`
   * @throws ServiceError  AuditUnavailable, as a rejection
   */
  record(entries: readonly string[]): Promise<number>
  /** Hands in a line that nobody waits for. If too many wait to be written, it is counted instead. */
  note(entry: string): void
}

/** @param port  to the thread that writes */
export function auditDesk(
  port: MessagePort,
  counters: AuditCounters,
  waitMs: number = limits.auditLineMs,
): AuditDesk {
  const questions = new Questions<number | undefined>()
  port.on('message', ({ number, sequence }: AuditReply) => questions.settle(number, sequence))
  port.unref()
  const send = (order: AuditOrder) => port.postMessage(order)
  const patience = { waitMs, fault: unavailable }
  let notes: string[] = []
  const sendNotes = () => {
    send({ kind: 'notes', entries: notes })
    notes = []
  }
  return {
    async record(entries) {
      const sequence = await questions.ask(
        (number) => send({ kind: 'lines', number, entries }),
        patience,
      )
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
