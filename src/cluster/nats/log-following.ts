/**
 * Tells a reader of the log in JetStream of its messages, in their order: those that are published again, and those between
 * that did not come. Nothing is told before the log has been compared with what was read of it, on each connection.
 *
 * @module
 */
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream'
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
  readonly #statuses: { stop(): void }
  readonly #timer: NodeJS.Timeout
  #next: number
  /** Behind the last message of which this has heard. */
  #end = 0
  /** What was published again and is not told yet. */
  readonly #came = new Map<number, LogMessage>()
  #cameBytes = 0
  #lastDigest: string | undefined
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
    { after, generation, digest }: LogStart,
    reader: LogReader,
  ) {
    this.#log = log
    this.#connection = connection
    this.#reader = reader
    this.#next = after + 1
    this.#generation = generation
    this.#lastDigest = digest
    this.#statuses = this.#lookAtEachConnection()
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
    this.#statuses.stop()
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
    const info = await this.#log.info().catch(unlessMissing)
    const fault = info === undefined ? MISSING : await this.#faultOf(info)
    if (this.#isStopped) return
    this.#isSame = fault === undefined
    if (fault !== undefined) {
      this.#forget()
      this.#suspect(fault)
    }
    this.#end = Math.max(this.#end, info?.end ?? 0)
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

  async #faultOf({ first, end, generation, base }: LogInfo): Promise<LogFault | undefined> {
    const last = this.#next - 1
    this.#generation ??= generation
    if (generation !== this.#generation) return { kind: 'other', generation, base }
    if (end < this.#next) return { kind: 'lost', place: last, end }
    if (first > this.#next) return { kind: 'gone', place: this.#next, first }
    if (this.#lastDigest === undefined || last < first) return undefined
    const message = await this.#log.message(last)
    // One that is missing was there: the server that leads now has a hole.
    if (message === undefined || digestOf(message) === this.#lastDigest) return undefined
    return { kind: 'changed', place: last }
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
    const { server } = await this.#log.info()
    if (!this.#isStopped) this.#suspect({ kind: 'hole', place: this.#next, server })
    return false
  }

  async #tell(messages: readonly LogMessage[]): Promise<void> {
    for (const message of messages) {
      this.#next = message.place + 1
      if (this.#came.delete(message.place)) this.#cameBytes -= message.bytes.length
    }
    this.#lastDigest = digestOf(messages[messages.length - 1])
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

  #lookAtEachConnection(): { stop(): void } {
    const statuses = this.#connection.nats.status()
    const watch = async () => {
      for await (const { type } of statuses) {
        // The next one may be with a server that has another log.
        if (type === 'disconnect') this.#forget()
        if (type !== 'reconnect') continue
        this.#wrongSinceMs &&= performance.now()
        this.#look()
      }
    }
    void watch()
    return statuses as unknown as { stop(): void }
  }
}

const MISSING: LogFault = { kind: 'missing' }

/** @throws  what does not say that there is no stream */
export function unlessMissing(fault: unknown): undefined {
  const isApi = fault instanceof JetStreamApiError
  if (!isApi || fault.code !== JetStreamApiCodes.StreamNotFound) throw fault
}
