/**
 * The lines of one thread on their way to the access log. The thread never waits: lines that find no room are dropped
 * and counted.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { callsOver, type OtherThread } from '../threads/calls.js'

/** What the writing thread does for the others. */
export interface LineCalls {
  /** @param text  whole lines */
  write(text: string): void
}

export class LineQueue {
  readonly #thread: OtherThread<LineCalls>
  readonly #counters: LogCounters
  #text = ''
  #byteCount = 0
  #timer: NodeJS.Timeout | undefined

  /** @param port  to the thread that writes */
  constructor(port: MessagePort, counters: LogCounters) {
    this.#thread = callsOver<LineCalls>(port)
    this.#counters = counters
    port.unref()
  }

  /** @param line  with its end */
  add(line: string): void {
    const byteCount = Buffer.byteLength(line)
    if (addTo(this.#counters, 'queued', byteCount) + byteCount > limits.accessLogQueuedBytes) {
      addTo(this.#counters, 'queued', -byteCount)
      addTo(this.#counters, 'dropped', 1)
      return
    }
    this.#text += line
    this.#byteCount += byteCount
    if (this.#byteCount >= limits.accessLogPieceBytes) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), limits.accessLogGatherMs).unref()
  }

  /** Sends what has gathered. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#byteCount === 0) return
    this.#thread.tell.write(this.#text)
    this.#text = ''
    this.#byteCount = 0
  }
}

/** The state of an access log in shared memory, which any thread may read at any time. */
export type LogCounters = Int32Array

export function createLogCounters(): LogCounters {
  return new Int32Array(new SharedArrayBuffer(4 * Object.keys(SLOT).length))
}

/** For the metrics. */
export function logFigures(counters: LogCounters): {
  readonly droppedCount: number
  readonly queuedBytes: number
} {
  return {
    droppedCount: Atomics.load(counters, SLOT.dropped) >>> 0,
    queuedBytes: Atomics.load(counters, SLOT.queued),
  }
}

/** Adds to a count; returns what it was before. Counts of lines are modulo 2 ** 32. */
export function addTo(counters: LogCounters, slot: Slot, count: number): number {
  return Atomics.add(counters, SLOT[slot], count)
}

/**
 * - `queued`: bytes that are on their way to the file.
 * - `dropped`: lines that found no room, or were cut by a fault of the file.
 */
type Slot = keyof typeof SLOT
const SLOT = { queued: 0, dropped: 1 } as const
