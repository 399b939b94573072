/**
 * Events to one client, in the form that it asks for (event-forms.ts). Of a client that reads slowly, only the
 * newest event waits: whoever is late learns how things are, not how they were. One that takes nothing for
 * long is cut off (response/reader-watch.ts), and so is one for which there is no memory.
 *
 * @module
 */
import type { EndReason, WatchEvent, Watcher } from '../operations/context-watches.js'
import type { Reply, Sink } from '../selection/reply.js'
import type { EventForm } from './event-forms.js'
import { TOO_SLOW } from './response/reader-watch.js'

/** What waits for all clients of a server. */
export interface WaitingEvents {
  bytes: number
  readonly maxBytes: number
}

interface EventStreamOptions<Channel extends Sink> {
  readonly reply: Reply
  readonly form: EventForm<Channel>
  readonly waiting: WaitingEvents
  /** Whether the client may still be told anything. */
  readonly mayGoOn: () => boolean
}

export class EventStream<Channel extends Sink> implements Watcher {
  readonly #options: EventStreamOptions<Channel>
  #sink: Channel | undefined
  #next: Uint8Array | undefined
  #hasRoom = true
  #ending: EndReason | undefined

  constructor(options: EventStreamOptions<Channel>) {
    this.#options = options
  }

  /** Begins the answer, so that the client knows that it is heard. */
  open(): Channel {
    if (this.#sink !== undefined) return this.#sink
    const { form, reply } = this.#options
    const sink = form.begin(reply)
    this.#sink = sink
    if (form.greeting.length > 0) this.#write(form.greeting)
    return sink
  }

  tell(event: WatchEvent): void {
    this.open()
    this.#write(this.#options.form.bytesOf(event))
  }

  beat(): void {
    const sink = this.open()
    if (this.#hasRoom && !sink.gone) this.#options.form.beat(sink)
  }

  mayGoOn(): boolean {
    return this.#options.mayGoOn()
  }

  end(why: EndReason): void {
    const sink = this.open()
    this.#ending = why
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
  #waitForRoom(sink: Channel, heldBytes: number): void {
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
    if (this.#ending === undefined || !this.#hasRoom || sink.gone) return
    this.#options.form.end(sink, this.#ending)
  }
}
