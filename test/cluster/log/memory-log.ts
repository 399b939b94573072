/**
 * A log in memory, for tests: what real servers do to messages, it does when it is told to.
 *
 * @module
 */
import type {
  Log,
  LogFault,
  LogInfo,
  LogMessage,
  LogReader,
  LogStart,
} from '../../../src/cluster/log/log.js'

/** The servers, which several machines use. */
export class MemoryServers {
  readonly generation: string
  messages: LogMessage[] = []
  /** Places of messages that the server lacks that is asked. */
  readonly missing = new Set<number>()
  first = 1
  readonly #onChange = new Set<() => void>()
  #timeMs = 1_000_000

  constructor(generation = '0123456789abcdef') {
    this.generation = generation
  }

  add(bytes: Uint8Array): number {
    const place = this.first + this.messages.length
    this.messages.push({ place, timeMs: ++this.#timeMs, bytes: Uint8Array.from(bytes) })
    this.changed()
    return place
  }

  /** To be called after messages were taken away, too. */
  changed(): void {
    for (const listener of this.#onChange) listener()
  }

  onChange(listener: () => void): () => void {
    this.#onChange.add(listener)
    return () => this.#onChange.delete(listener)
  }
}

/** The way of one machine to them. */
export class MemoryLog implements Log {
  readonly messageBytes: number
  readonly #servers: MemoryServers
  /** What becomes of an append: it comes, it comes and is not acknowledged, or neither. */
  fate: () => 'taken' | 'takenUnheard' | 'lost' = () => 'taken'

  constructor(servers: MemoryServers, messageBytes = 1_000) {
    this.#servers = servers
    this.messageBytes = messageBytes
  }

  async append(bytes: Uint8Array): Promise<number> {
    if (bytes.length > this.messageBytes) throw new RangeError('the message is too long')
    const fate = this.fate()
    if (fate === 'lost') throw new Error('no server answers')
    const place = this.#servers.add(bytes)
    if (fate === 'takenUnheard') throw new Error('no server answers')
    return place
  }

  follow({ after, generation }: LogStart, reader: LogReader): () => void {
    const servers = this.#servers
    const isOther = generation !== undefined && generation !== servers.generation
    let next = after + 1
    let isStopped = false
    let isTelling = false
    const tell = async () => {
      if (isTelling) return
      isTelling = true
      for (;;) {
        await Promise.resolve()
        if (isStopped || isOther) break
        const messages: LogMessage[] = []
        for (let message = this.#at(next); message !== undefined; message = this.#at(++next)) {
          messages.push(message)
        }
        if (messages.length === 0) break
        await reader.onMessages(messages)
      }
      isTelling = false
      const other = { kind: 'other', generation: servers.generation } as const
      if (!isStopped) reader.onFault(isOther ? other : this.#faultAt(next))
    }
    const stopHearing = servers.onChange(() => void tell())
    void tell()
    return () => {
      isStopped = true
      stopHearing()
    }
  }

  async *read(start: number, end: number): AsyncGenerator<LogMessage | undefined> {
    for (let place = start; place < end; place++) yield this.#at(place)
  }

  async info(): Promise<LogInfo> {
    const { first, messages, generation, missing } = this.#servers
    const end = first + messages.length
    return { first, end, generation, missingCount: missing.size, copyCount: 1, server: 'memory' }
  }

  #at(place: number): LogMessage | undefined {
    const { missing, messages, first } = this.#servers
    return missing.has(place) ? undefined : messages[place - first]
  }

  #faultAt(next: number): LogFault | undefined {
    const { first, messages, missing } = this.#servers
    const end = first + messages.length
    if (end < next) return { kind: 'lost', place: next - 1, end }
    if (first > next) return { kind: 'gone', place: next, first }
    return missing.has(next) ? { kind: 'hole', place: next, server: 'memory' } : undefined
  }
}
