/**
 * Tells a reader of the log in JetStream of its messages, in their order: those that are published again, and those between
 * that did not come. Nothing is told before the log has been compared with what was read of it, on each connection.
 *
 * @module
 */
import { limits } from '../../limits.js'
import {
  digestOf,
  type Log,
  type LogFault,
  type LogInfo,
  type LogMessage,
  type LogReader,
  type LogStart,
} from '../log/log.js'
import type { Connection } from './connection.js'

interface ReadLog extends Pick<Log, 'info' | 'read'> {
  message(place: number): Promise<LogMessage | undefined>
}

/** One reader of the log: it is told what comes in its order, and what was passed over is asked for. */
export class Following {
  readonly #log: ReadLog
  readonly #connection: Connection
  readonly #reader: LogReader
  readonly #stopHearing: () => void
  readonly #timer: NodeJS.Timeout
  #next: number
  /** Behind the last message of which this has heard. */
  #end = 0
  /** What was published again and is not told yet. */
  readonly #came = new Map<number, LogMessage>()
  #cameBytes = 0
  /** The last one that was read, and its digest where it is known. */
  #last: { readonly place: number; readonly digest: string | undefined }
  #beforeCount: number
  #generation: string | undefined
  #isToLook = true
  /** Whether the log is known to be the one that was read so far, since the last connection. */
  #isSame = false
  /** Since when it is not as it should be. */
  #wrongSinceMs: number | undefined
  #wake: () => void = () => {}
  #isStopped = false

  constructor(
    log: ReadLog,
    connection: Connection,
    { after, beforeCount = 0, generation, digest }: LogStart,
    reader: LogReader,
  ) {
    this.#log = log
    this.#connection = connection
    this.#reader = reader
    this.#next = after + 1
    this.#generation = generation
    this.#last = { place: after, digest }
    this.#beforeCount = beforeCount
    this.#stopHearing = connection.onChange((isUp) => {
      // The next one may be with a server that has another log.
      if (!isUp) return this.#forget()
      this.#wrongSinceMs &&= performance.now()
      this.#look()
    })
    // What was published again may be lost on its way.
    this.#timer = setInterval(() => this.#look(), limits.logLookMs)
    void this.#run()
  }

  take(message: LogMessage): void {
    const { place, bytes } = message
    // It was read before it came; or the log has lost its end, and grows again.
    if (place < this.#next) {
      this.#look()
      return
    }
    this.#end = Math.max(this.#end, place + 1)
    if (this.#cameBytes + bytes.length <= limits.logEarlyBytes && !this.#came.has(place)) {
      this.#came.set(place, message)
      this.#cameBytes += bytes.length
    }
    this.#wake()
  }

  stop(): void {
    this.#isStopped = true
    this.#stopHearing()
    clearInterval(this.#timer)
    this.#wake()
  }

  #look(): void {
    this.#isToLook = true
    this.#wake()
  }

  #lookSoon(): void {
    if (!this.#isStopped) setTimeout(() => this.#look(), limits.logAgainMs)
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (this.#isToLook && this.#connection.isUp) await this.#compare()
        while (this.#next < this.#end && this.#isSame && !this.#isStopped) {
          if (this.#came.has(this.#next)) await this.#tell(this.#takeCome())
          else if (!(await this.#readGap())) break
        }
      } catch {
        // No server answers: the next look tries again, and soon where nothing can be told before.
        if (!this.#isSame) this.#lookSoon()
      }
      await this.#toDo()
    }
  }

  /** Whether the log is the one that was read so far, and how far it goes. */
  async #compare(): Promise<void> {
    this.#isToLook = false
    const info = await this.#log.info()
    const fault = await this.#faultOf(info)
    if (this.#isStopped) return
    this.#isSame = fault === undefined
    if (info === undefined || fault !== undefined) {
      this.#forget()
      if (fault !== undefined) this.#suspect(fault)
      return
    }
    this.#next = Math.max(Math.min(info.first, this.#next), this.#next - this.#beforeCount)
    this.#beforeCount = 0
    this.#end = Math.max(this.#end, info.end)
    if (this.#isSame && this.#next >= this.#end) this.#goOn()
  }

  /** A server that was just elected does not know at first all that it has: it is asked again before it is believed. */
  #suspect(fault: LogFault): void {
    this.#wrongSinceMs ??= performance.now()
    if (performance.now() - this.#wrongSinceMs < limits.logLookMs) this.#lookSoon()
    else this.#reader.onFault(fault)
  }

  #goOn(): void {
    this.#wrongSinceMs = undefined
    this.#reader.onFault(undefined)
  }

  /** What was published again may be of a log that is no more, or of another one. */
  #forget(): void {
    this.#isSame = false
    this.#came.clear()
    this.#cameBytes = 0
    this.#end = 0
  }

  async #faultOf(info: LogInfo | undefined): Promise<LogFault | undefined> {
    if (info === undefined) return { kind: 'missing' }
    const { first, end, generation, base } = info
    const { place, digest } = this.#last
    this.#generation ??= generation
    if (generation !== this.#generation) return { kind: 'other', generation, base }
    if (end <= place) return { kind: 'lost', place, end }
    if (first > this.#next) return { kind: 'gone', place: this.#next, first }
    if (digest === undefined || place < first) return undefined
    const message = await this.#log.message(place)
    // One that is missing was there: the server that leads now has a hole.
    if (message === undefined || digestOf(message) === digest) return undefined
    return { kind: 'changed', place }
  }

  /** All that has come and is next. */
  #takeCome(): readonly LogMessage[] {
    const taken: LogMessage[] = []
    for (let place = this.#next; ; place++) {
      const message = this.#came.get(place)
      if (message === undefined) return taken
      taken.push(message)
    }
  }

  /** @returns whether a message is there that is next */
  async #readGap(): Promise<boolean> {
    let end = Math.min(this.#end, this.#next + limits.logReadCount)
    for (const place of this.#came.keys()) end = Math.min(end, place)
    const read: LogMessage[] = []
    for await (const message of this.#log.read(this.#next, end)) {
      if (message === undefined) break
      read.push(message)
    }
    if (this.#isStopped || !this.#isSame) return false
    if (read.length > 0) {
      await this.#tell(read)
      return true
    }
    const server = (await this.#log.info())?.server
    if (!this.#isStopped) this.#suspect({ kind: 'hole', place: this.#next, server })
    return false
  }

  async #tell(messages: readonly LogMessage[]): Promise<void> {
    for (const message of messages) {
      this.#next = message.place + 1
      if (this.#came.delete(message.place)) this.#cameBytes -= message.bytes.length
    }
    const last = messages[messages.length - 1]
    if (last.place >= this.#last.place) this.#last = { place: last.place, digest: digestOf(last) }
    if (this.#wrongSinceMs !== undefined) this.#goOn()
    try {
      await this.#reader.onMessages(messages)
    } catch (thrown) {
      this.stop()
      // It would be taken for a failure of NATS here, and the messages for told.
      setImmediate(() => {
        throw thrown
      })
    }
  }

  /** Resolves when something has come, or is to be looked at. */
  async #toDo(): Promise<void> {
    const isToLook = this.#isToLook && this.#connection.isUp
    if (this.#isStopped || isToLook || (this.#came.has(this.#next) && this.#isSame)) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }
}
