/**
 * A log in memory, for tests: what real servers do to messages, it does when it is told to.
 *
 * @module
 */
import { BEGINNING, type Link } from '../../../src/chain/link.js'
import {
  digestOf,
  type Log,
  type LogFault,
  type LogFounding,
  type LogInfo,
  type LogMessage,
  type LogReader,
  type LogStart,
} from '../../../src/cluster/log/log.js'

/** The servers, which several machines use. */
export class MemoryServers {
  generation: string
  founder: string
  base: Link
  messages: LogMessage[] = []
  /** Places of messages that the server lacks that is asked. */
  readonly missing = new Set<number>()
  first = 1
  /** Whether there is a log. */
  isFounded = true
  readonly #onChange = new Set<() => void>()
  #timeMs = 1_000_000

  constructor(founding: Partial<LogFounding> = {}) {
    const { generation = '0123456789abcdef', founder = 'a', base = BEGINNING } = founding
    this.generation = generation
    this.founder = founder
    this.base = base
  }

  add(bytes: Uint8Array): number {
    const place = this.first + this.messages.length
    this.messages.push({ place, timeMs: ++this.#timeMs, bytes: Uint8Array.from(bytes) })
    this.changed()
    return place
  }

  /** @throws  where there is another log */
  found({ generation, founder, base }: LogFounding): void {
    if (this.isFounded) {
      if (generation === this.generation) return
      throw new Error(`there is a log of generation ${this.generation}`)
    }
    Object.assign(this, { generation, founder, base, messages: [], first: 1, isFounded: true })
    this.missing.clear()
    this.changed()
  }

  /** @returns how many messages are removed */
  replace(founding: LogFounding, replaced: string): number {
    const isReplaced = this.isFounded && this.generation === replaced
    const count = isReplaced ? this.messages.length : 0
    if (isReplaced) this.remove()
    this.found(founding)
    return count
  }

  remove(): void {
    this.isFounded = false
    this.changed()
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
    if (fate === 'lost' || !this.#servers.isFounded) throw new Error('no server answers')
    const place = this.#servers.add(bytes)
    if (fate === 'takenUnheard') throw new Error('no server answers')
    return place
  }

  follow({ after, beforeCount = 0, ...start }: LogStart, reader: LogReader): () => void {
    const servers = this.#servers
    let next = after + 1
    let isBefore = beforeCount > 0
    let { generation, digest } = start
    let isStopped = false
    let isTelling = false
    const tell = async () => {
      if (isTelling) return
      isTelling = true
      let fault: LogFault | undefined
      for (;;) {
        await Promise.resolve()
        if (servers.isFounded) generation ??= servers.generation
        fault = this.#faultAt(next, generation, digest)
        const messages: LogMessage[] = []
        if (fault === undefined && isBefore) {
          isBefore = false
          digest = undefined
          next = Math.max(Math.min(servers.first, next), next - beforeCount)
        }
        for (let message = this.#at(next); message !== undefined; message = this.#at(++next)) {
          if (isStopped || fault !== undefined) break
          messages.push(message)
          digest = digestOf(message)
        }
        if (messages.length === 0) break
        await reader.onMessages(messages)
      }
      isTelling = false
      if (!isStopped) reader.onFault(fault)
    }
    const stopHearing = servers.onChange(() => void tell())
    void tell()
    return () => {
      isStopped = true
      stopHearing()
    }
  }

  async *read(start: number, end: number): AsyncGenerator<LogMessage | undefined> {
    if (!this.#servers.isFounded) throw new Error('there is no log')
    for (let place = start; place < end; place++) yield this.#at(place)
  }

  async info(): Promise<LogInfo | undefined> {
    if (!this.#servers.isFounded) return undefined
    const { first, messages, generation, founder, base, missing } = this.#servers
    return {
      first,
      end: first + messages.length,
      generation,
      founder,
      base,
      missingCount: missing.size,
      copyCount: 1,
      server: 'memory',
    }
  }

  #at(place: number): LogMessage | undefined {
    const { missing, messages, first } = this.#servers
    return missing.has(place) ? undefined : messages[place - first]
  }

  #faultAt(next: number, generation?: string, digest?: string): LogFault | undefined {
    const { first, messages, missing, isFounded, ...servers } = this.#servers
    if (!isFounded) return { kind: 'missing' }
    if (generation !== servers.generation) {
      return { kind: 'other', generation: servers.generation, base: servers.base }
    }
    const end = first + messages.length
    if (end < next) return { kind: 'lost', place: next - 1, end }
    if (first > next) return { kind: 'gone', place: next, first }
    const last = this.#at(next - 1)
    if (digest !== undefined && last !== undefined && digestOf(last) !== digest) {
      return { kind: 'changed', place: next - 1 }
    }
    return missing.has(next) ? { kind: 'hole', place: next, server: 'memory' } : undefined
  }
}
