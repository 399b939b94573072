/**
 * The thread that writes an audit, for all threads of a service. Lines that come while others are
 * written are written together next, so that many lists share one way to the disk.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { callsOver } from '../threads/calls.js'
import type { LineCalls } from './client.js'
import { type AuditCounters, addTo, setTo } from './counters.js'
import { entryOf } from './entry.js'
import type { AuditCalls, AuditNews, AuditThreadData } from './thread.js'
import { AuditWriter } from './writer.js'

/** @param main  to the main thread */
export function serveLines(main: MessagePort, data: AuditThreadData): void {
  const { counters } = data
  const writer = new AuditWriter(data)
  /** What callers wait for, in order. */
  let asked: AskedLines[] = []
  let notes: string[] = []
  /** When the first of them came. */
  let sinceMs = 0
  let isScheduled = false
  let failure: string | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let toldLostCount = 0

  const lines: LineCalls = {
    record: (entries) =>
      new Promise((resolve) => {
        begin()
        asked.push({ entries, resolve })
      }),
    note(entries) {
      begin()
      for (const entry of entries) notes.push(entry)
    },
  }
  const own: AuditCalls = { serve: (port) => void callsOver(port, lines), stop }
  const { tell } = callsOver<AuditNews>(main, own)

  /** To be called before something is to be written. */
  function begin(): void {
    if (asked.length === 0 && notes.length === 0) sinceMs = performance.now()
    schedule()
  }

  /** After all that has come by now. */
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(write)
  }

  function write(): void {
    isScheduled = false
    // Callers do not wait for the next attempt.
    if (retryTimer !== undefined) {
      refuseAsked()
      return
    }
    if (asked.length === 0 && notes.length === 0) return
    // A turn later, so that the answers of this group are sent first.
    if (writeGroup() && (asked.length > 0 || notes.length > 0)) schedule()
  }

  function writeGroup(): boolean {
    const group = nextGroup()
    try {
      const own = ownEntries()
      const entries = group.asked.flatMap(entriesOf)
      const { first } = writer.append([...group.notes, ...own.entries, ...entries])
      toldLostCount = own.lostCount
      addTo(counters, 'waiting', -group.notes.length)
      addTo(counters, 'written', group.notes.length + own.entries.length + entries.length)
      setTo(counters, 'lag', Math.round(1_000 * (performance.now() - sinceMs)))
      notes = notes.slice(group.notes.length)
      asked = asked.slice(group.asked.length)
      let sequence = first + group.notes.length + own.entries.length
      for (const each of group.asked) {
        each.resolve(sequence)
        sequence += each.entries.length
      }
      sinceMs = performance.now()
      goesOn()
      return true
    } catch (fault) {
      fails(fault)
      return false
    }
  }

  /** As much as is written together, and at least one line. */
  function nextGroup(): { notes: string[]; asked: AskedLines[] } {
    let bytes = 0
    const hasRoom = (entries: readonly string[]) => {
      const isFirst = bytes === 0
      for (const entry of entries) bytes += entry.length
      return isFirst || bytes <= limits.auditGroupBytes
    }
    // Those that callers wait for come first when there is not room for all.
    const askedEnd = asked.findIndex(({ entries }) => !hasRoom(entries))
    const firstAsked = asked.slice(0, askedEnd < 0 ? asked.length : askedEnd)
    const notesEnd = notes.findIndex((note) => !hasRoom([note]))
    return { asked: firstAsked, notes: notes.slice(0, notesEnd < 0 ? notes.length : notesEnd) }
  }

  /** What the audit has to say of itself: since when it goes on again, and what it lost. */
  function ownEntries(): { entries: string[]; lostCount: number } {
    const entries: string[] = []
    const lostCount = addTo(counters, 'lost', 0)
    if (failure !== undefined) {
      const refusedCount = addTo(counters, 'refused', 0)
      entries.push(entryOf({ event: 'audit', phase: 'resumed', reason: failure, refusedCount }))
    }
    const lineCount = lostCount - toldLostCount
    if (lineCount > 0) entries.push(entryOf({ event: 'audit', phase: 'lost', lineCount }))
    return { entries, lostCount }
  }

  function fails(fault: unknown): void {
    const { code, message } = fault as NodeJS.ErrnoException
    const reason = code ?? message
    if (failure !== reason) tell.failed(reason)
    failure = reason
    setTo(counters, 'failing', 1)
    refuseAsked()
    retryTimer = setTimeout(async () => {
      await writer.release().catch(() => {})
      retryTimer = undefined
      // Also where nothing waits, so that no list has to be refused to find out.
      if (asked.length === 0 && notes.length === 0) writeGroup()
      else write()
    }, limits.auditRetryMs)
  }

  function goesOn(): void {
    if (failure === undefined) return
    failure = undefined
    setTo(counters, 'failing', 0)
    tell.recovered(addTo(counters, 'lost', 0))
  }

  function refuseAsked(): void {
    for (const { resolve, entries } of asked) {
      addTo(counters, 'refused', entries.length)
      resolve(undefined)
    }
    asked = []
  }

  async function stop(): Promise<void> {
    clearTimeout(retryTimer)
    if (retryTimer !== undefined) await writer.release().catch(() => {})
    retryTimer = undefined
    const deadlineMs = performance.now() + limits.auditStopMs
    do {
      // What other threads have sent may not be here yet.
      await sleep(1)
      write()
    } while (retryTimer === undefined && isAwaited(counters) && performance.now() < deadlineMs)
    clearTimeout(retryTimer)
    await writer.release().catch(() => {})
    process.exit()
  }
}

interface AskedLines {
  readonly entries: readonly string[]
  resolve(sequence: number | undefined): void
}

/** Whether notes are on their way. */
function isAwaited(counters: AuditCounters): boolean {
  return addTo(counters, 'waiting', 0) > 0
}

function entriesOf({ entries }: AskedLines): readonly string[] {
  return entries
}
