/**
 * Server-sent events to one client (HTML Living Standard, 9.2). Of a client that reads slowly, only the
 * newest event waits: whoever is late learns how things are, not how they were. One that takes nothing for
 * long is cut off (response/reader-watch.ts).
 *
 * @module
 */
import { limits } from '../limits.js'
import type { WatchEvent, Watcher } from '../operations/context-watches.js'
import type { Reply, Sink } from '../selection/reply.js'

export const EVENT_HEADERS = Object.freeze({
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until there are enough of them to send.
  'X-Accel-Buffering': 'no',
})

export class EventStream implements Watcher {
  readonly mayGoOn: () => boolean
  readonly #reply: Reply
  #sink: Sink | undefined
  #waiting: Uint8Array | undefined
  #hasRoom = true
  #hasEnded = false

  /** @param mayGoOn  whether the client may still be told anything */
  constructor(reply: Reply, mayGoOn: () => boolean) {
    this.#reply = reply
    this.mayGoOn = mayGoOn
  }

  /** Begins the answer, so that the client knows that it is heard. */
  open(): Sink {
    if (this.#sink !== undefined) return this.#sink
    const sink = this.#reply.begin(200, EVENT_HEADERS)
    this.#sink = sink
    this.#write(`retry: ${limits.watchRetryMs}\n\n`)
    return sink
  }

  tell({ kind, id, json }: WatchEvent): void {
    this.open()
    this.#write(`event: ${kind}\nid: ${id}\ndata: ${json}\n\n`)
  }

  beat(): void {
    this.open()
    if (this.#hasRoom) this.#write(':\n\n')
  }

  end(): void {
    const sink = this.open()
    this.#hasEnded = true
    if (this.#hasRoom && !sink.gone) sink.end()
  }

  #write(text: string): void {
    this.#waiting = utf8.encode(text)
    if (this.#hasRoom) this.#writeWaiting()
  }

  #writeWaiting(): void {
    const sink = this.open()
    const bytes = this.#waiting
    if (bytes === undefined || sink.gone) return
    this.#waiting = undefined
    if (sink.write(bytes)) return
    this.#hasRoom = false
    void sink.drained().then(() => {
      this.#hasRoom = true
      this.#writeWaiting()
      if (this.#hasEnded && this.#hasRoom && !sink.gone) sink.end()
    })
  }
}

const utf8 = new TextEncoder()
