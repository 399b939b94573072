/**
 * Server-sent events to one client (HTML Living Standard, 9.2). A slow client gets only the newest event. One that
 * reads nothing for long is cut off (response/reader-watch.ts), and so is one for which there is no memory.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { EndReason, WatchEvent, Watcher } from '../operations/context-watches.js'
import type { Reply, Sink } from '../selection/reply.js'
import { TOO_SLOW } from './observe.js'

export const EVENT_HEADERS = Object.freeze({
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until there are enough of them to send.
  'X-Accel-Buffering': 'no',
})

/** What waits for all clients of a server. */
export interface WaitingEvents {
  bytes: number
  readonly maxBytes: number
}

interface EventStreamOptions {
  readonly reply: Reply
  readonly waiting: WaitingEvents
  /** Whether the client may still be told anything. */
  readonly mayGoOn: () => boolean
}

export class EventStream implements Watcher {
  readonly #options: EventStreamOptions
  #sink: Sink | undefined
  #next: Uint8Array | undefined
  #hasRoom = true
  #isEnding = false

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  /** Begins the answer, so that the client knows that it is heard. */
  open(): Sink {
    if (this.#sink !== undefined) return this.#sink
    const sink = this.#options.reply.begin(200, EVENT_HEADERS)
    this.#sink = sink
    this.#write(RETRY)
    return sink
  }

  tell(event: WatchEvent): void {
    this.open()
    this.#write(bytesOf(event))
  }

  beat(): void {
    const sink = this.open()
    if (this.#hasRoom && !sink.gone) void sink.write(COMMENT)
  }

  mayGoOn(): boolean {
    return this.#options.mayGoOn()
  }

  end(why: EndReason): void {
    const sink = this.open()
    this.#isEnding = true
    // Only who learns something new is waited for. The others may come back, and have missed nothing then.
    if (!this.#hasRoom && why !== 'deleted') sink.abort(TOO_SLOW)
    else this.#endWithRoom()
  }

  #write(bytes: Uint8Array): void {
    this.#next = bytes
    if (this.#hasRoom) this.#writeNext()
  }

  #writeNext(): void {
    const sink = this.open()
    const bytes = this.#next
    if (bytes === undefined || sink.gone) return
    this.#next = undefined
    if (!sink.write(bytes)) this.#waitForRoom(sink, bytes.length)
  }

  /** The library holds what it was given last. What comes next is the same memory for all clients. */
  #waitForRoom(sink: Sink, heldBytes: number): void {
    const { waiting } = this.#options
    this.#hasRoom = false
    waiting.bytes += heldBytes
    void sink.drained().then(() => {
      waiting.bytes -= heldBytes
      this.#hasRoom = true
      this.#writeNext()
      this.#endWithRoom()
    })
    if (waiting.bytes > waiting.maxBytes) sink.abort(TOO_SLOW)
  }

  #endWithRoom(): void {
    const sink = this.open()
    if (this.#isEnding && this.#hasRoom && !sink.gone) sink.end()
  }
}

const RETRY = Buffer.from(`retry: ${limits.watchRetryMs}\n\n`)
/** What proxies and dead connections notice. */
const COMMENT = Buffer.from(':\n\n')

/** Made once for all clients. */
function bytesOf(event: WatchEvent): Uint8Array {
  const { kind, id, json } = event
  const bytes = knownBytes.get(event) ?? Buffer.from(`event: ${kind}\nid: ${id}\ndata: ${json}\n\n`)
  knownBytes.set(event, bytes)
  return bytes
}

const knownBytes = new WeakMap<WatchEvent, Uint8Array>()
