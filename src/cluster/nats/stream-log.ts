/**
 * The log of a cluster in JetStream: one stream on the disks of several servers, of which a majority has each message that is
 * acknowledged. It uses as little of JetStream as it can. Messages are published without ids and without expectations:
 * nats-server 2.10 acknowledges some of those that have both, and does not store them. There are no consumers, whose state
 * moves with leaders: the server that leads publishes each message again once it is committed (`republish`), and what does
 * not come in this way is asked for by its place.
 *
 * A server may lack messages without a word, after a damage to its disk. So a place that is passed over is never taken for
 * one that has nothing.
 *
 * @module
 */
import { hash, randomBytes } from 'node:crypto'
import {
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StoredMsg,
} from '@nats-io/jetstream'
import type { Msg } from '@nats-io/transport-node'
import { limits } from '../../limits.js'
import type { Log, LogFault, LogInfo, LogMessage, LogReader, LogStart } from '../log/log.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { inCopies, isThereOtherwise } from './open-stream.js'

export class StreamLog implements Log {
  readonly #connection: Connection
  readonly #names: Names
  readonly #manager: JetStreamManager
  readonly #client: JetStreamClient

  private constructor(connection: Connection, names: Names, manager: JetStreamManager) {
    this.#connection = connection
    this.#names = names
    this.#manager = manager
    this.#client = jetstream(connection.nats)
  }

  /**
   * Makes it where there is none.
   *
   * @throws  as a rejection, where JetStream does not answer
   */
  static async open(connection: Connection, names: Names): Promise<StreamLog> {
    const manager = await jetstreamManager(connection.nats, { timeout: limits.clusterCallMs })
    const config = {
      name: names.stream,
      subjects: [names.log],
      max_bytes: limits.clusterStreamBytes,
      max_age: limits.clusterStreamMs * NANOSECONDS_PER_MS,
      // The least that there is: nothing here has an id.
      duplicate_window: 100 * NANOSECONDS_PER_MS,
      deny_delete: true,
      deny_purge: true,
      allow_direct: false,
      republish: { src: names.log, dest: names.news },
      metadata: { [GENERATION]: randomBytes(8).toString('hex') },
    }
    try {
      await inCopies((num_replicas) => manager.streams.add({ ...config, num_replicas }))
    } catch (fault) {
      // Each of several machines that begin has drawn a generation.
      if (!isThereOtherwise(fault)) throw fault
    }
    return new StreamLog(connection, names, manager)
  }

  get messageBytes(): number {
    return this.#connection.partBytes
  }

  async append(bytes: Uint8Array): Promise<number> {
    // The library would keep it until there is a connection.
    if (!this.#connection.isUp) throw new Error('there is no connection to NATS')
    const options = { timeout: limits.logAppendMs }
    return (await this.#client.publish(this.#names.log, bytes, options)).seq
  }

  follow(start: LogStart, reader: LogReader): () => void {
    const following = new Following(this, this.#connection, start, reader)
    const subscription = this.#connection.subscribe(this.#names.news, (news) => {
      const message = publishedAgain(news)
      if (message !== undefined) following.take(message)
    })
    return () => {
      subscription.unsubscribe()
      following.stop()
    }
  }

  async *read(start: number, end: number): AsyncGenerator<LogMessage | undefined> {
    const window: Promise<LogMessage | undefined>[] = []
    for (let next = start, place = start; place < end; place++) {
      for (; next < end && window.length < limits.logReadCount; next++) {
        const asked = this.message(next)
        // It is awaited below, and may fail before.
        asked.catch(() => {})
        window.push(asked)
      }
      yield await window.shift()
    }
  }

  async message(place: number): Promise<LogMessage | undefined> {
    const found = await this.#manager.streams.getMessage(this.#names.stream, { seq: place })
    return found === null ? undefined : storedMessage(found)
  }

  async info(): Promise<LogInfo> {
    const { config, state, cluster } = await this.#manager.streams.info(this.#names.stream)
    return {
      generation: config.metadata?.[GENERATION],
      // The first one of a stream that never had one is 0.
      first: Math.max(1, state.first_seq),
      end: state.last_seq + 1,
      missingCount: state.num_deleted ?? 0,
      copyCount: config.num_replicas,
      server: cluster?.leader,
    }
  }
}

/** One reader of the log: it is told what comes in its order, and what was passed over is asked for. */
class Following {
  readonly #log: StreamLog
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
  /** Until the log is again what was read of it. */
  #isOther = false
  #wake: () => void = () => {}
  #isStopped = false

  constructor(
    log: StreamLog,
    connection: Connection,
    { after, generation }: LogStart,
    reader: LogReader,
  ) {
    this.#log = log
    this.#connection = connection
    this.#reader = reader
    this.#next = after + 1
    this.#generation = generation
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

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (this.#isToLook && this.#connection.isUp) await this.#compare()
        while (this.#next < this.#end && !this.#isOther && !this.#isStopped) {
          if (this.#came.has(this.#next)) await this.#tell(this.#takeCome())
          else if (!(await this.#readGap())) break
        }
      } catch {
        // No server answers: the next look tries again.
      }
      await this.#toDo()
    }
  }

  /** Whether the log is the one that was read so far, and how far it goes. */
  async #compare(): Promise<void> {
    this.#isToLook = false
    const info = await this.#log.info()
    const fault = await this.#faultOf(info)
    this.#isOther = fault !== undefined
    if (this.#isOther) {
      // What was published again was of a log that is no more, or of another one.
      this.#came.clear()
      this.#cameBytes = 0
      this.#end = 0
    }
    this.#end = Math.max(this.#end, info.end)
    if (this.#isOther || this.#next >= this.#end) this.#reader.onFault(fault)
  }

  async #faultOf({ first, end, generation }: LogInfo): Promise<LogFault | undefined> {
    const last = this.#next - 1
    this.#generation ??= generation
    if (generation !== this.#generation) return { kind: 'other', generation }
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
    if (this.#isStopped) return false
    if (read.length > 0) {
      await this.#tell(read)
      return true
    }
    const { server } = await this.#log.info()
    this.#reader.onFault({ kind: 'hole', place: this.#next, server })
    return false
  }

  async #tell(messages: readonly LogMessage[]): Promise<void> {
    for (const message of messages) {
      this.#next = message.place + 1
      this.#lastDigest = digestOf(message)
      if (this.#came.delete(message.place)) this.#cameBytes -= message.bytes.length
    }
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
    if (this.#isStopped || isToLook || (this.#came.has(this.#next) && !this.#isOther)) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  #lookAtEachConnection(): { stop(): void } {
    const statuses = this.#connection.nats.status()
    const watch = async () => {
      for await (const { type } of statuses) if (type === 'reconnect') this.#look()
    }
    void watch()
    return statuses as unknown as { stop(): void }
  }
}

const NANOSECONDS_PER_MS = 1_000_000

/** In the metadata of the stream. */
const GENERATION = 'hickory-generation'

function storedMessage({ seq, time, data }: StoredMsg): LogMessage {
  return { place: seq, timeMs: time.getTime(), bytes: data }
}

/** Undefined of what the stream has not published. */
function publishedAgain({ headers, data }: Msg): LogMessage | undefined {
  const place = Number(headers?.get('Nats-Sequence') || Number.NaN)
  const timeMs = Date.parse(headers?.get('Nats-Time-Stamp') ?? '')
  return Number.isSafeInteger(place) && !Number.isNaN(timeMs)
    ? { place, timeMs, bytes: data }
    : undefined
}

function digestOf({ bytes }: LogMessage): string {
  return hash('sha256', bytes, 'hex')
}
