/**
 * Lines of one thread on their way to the access log. They wait for nobody: those that find no room are
 * dropped and counted.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { addTo, type LogCounters } from './counters.js'
import type { LogOrder } from './messages.js'

export class LineQueue {
  readonly #port: MessagePort
  readonly #counters: LogCounters
  #text = ''
  #byteCount = 0
  #timer: NodeJS.Timeout | undefined

  /** @param port  to the thread that writes */
  constructor(port: MessagePort, counters: LogCounters) {
    this.#port = port
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
    this.#port.postMessage({ kind: 'lines', text: this.#text } satisfies LogOrder)
    this.#text = ''
    this.#byteCount = 0
  }
}
