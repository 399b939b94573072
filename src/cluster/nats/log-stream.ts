/**
 * The stream of a cluster: it carries groups of the journal that are committed to machines that were away when the writer
 * sent them. It may lose its end, and machines may have more than it. The journals are the truth.
 *
 * Each group is one message, or several parts of one; headers say what it goes on with and where it ends.
 *
 * @module
 */
import {
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StoredMsg,
} from '@nats-io/jetstream'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import type { Link } from '../../chain/link.js'
import type { Groups } from '../../journal/groups.js'
import { limits } from '../../limits.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { inCopies, isThereOtherwise } from './open-stream.js'

/** A part of a group in the stream. */
interface CarriedPart {
  readonly previous: Link
  readonly last: Link
  readonly part: number
  readonly partCount: number
  readonly bytes: Uint8Array
}

/** Where the stream ends. */
interface StreamEnd {
  /** Of the last message. */
  readonly streamSequence: number
  /** The last batch that is whole in it, or that before the one that is not; undefined where there is none. */
  readonly carried: Link | undefined
}

export class LogStream {
  readonly #connection: Connection
  readonly #names: Names
  readonly #manager: JetStreamManager
  readonly #client: JetStreamClient
  /** Where the next group is, behind the one that was read last. */
  #next: { readonly since: number; readonly streamSequence: number } | undefined

  private constructor(connection: Connection, names: Names, manager: JetStreamManager) {
    this.#connection = connection
    this.#names = names
    this.#manager = manager
    this.#client = jetstream(connection.nats)
  }

  /** Makes it where there is none. */
  static async open(connection: Connection, names: Names): Promise<LogStream> {
    const manager = await jetstreamManager(connection.nats, { timeout: limits.clusterCallMs })
    const config = {
      name: names.stream,
      subjects: [names.log],
      max_bytes: limits.clusterStreamBytes,
      max_age: limits.clusterStreamMs * NANOSECONDS_PER_MS,
    }
    try {
      await inCopies((num_replicas) => manager.streams.add({ ...config, num_replicas }))
    } catch (fault) {
      if (!isThereOtherwise(fault)) throw fault
    }
    return new LogStream(connection, names, manager)
  }

  /** Whether it can be asked. */
  get isUp(): boolean {
    return this.#connection.isUp
  }

  /**
   * Appends groups.
   *
   * @param streamSequence  of the last message: where there is another one, nothing is appended
   * @returns that of the last message then
   * @throws  as a rejection; then a part of them may be there
   */
  async append(groups: Groups, streamSequence: number): Promise<number> {
    const { log } = this.#names
    const { bytes, previous, last } = groups
    const { partBytes } = this.#connection
    const partCount = Math.max(1, Math.ceil(bytes.length / partBytes))
    const acknowledged = Array.from({ length: partCount }, (_, part) => {
      const data = bytes.subarray(part * partBytes, (part + 1) * partBytes)
      return this.#client.publish(log, data, {
        headers: headersOf({ previous, last, part, partCount }),
        expect: { lastSequence: streamSequence + part },
        timeout: limits.clusterCallMs,
      })
    })
    await Promise.all(acknowledged)
    return streamSequence + partCount
  }

  async end(): Promise<StreamEnd> {
    const { stream, log } = this.#names
    const message = await this.#manager.streams.getMessage(stream, { last_by_subj: log })
    if (message === null) {
      const { state } = await this.#manager.streams.info(stream)
      return { streamSequence: state.last_seq, carried: undefined }
    }
    const found = partOf(message)
    const isWhole = found !== undefined && found.part === found.partCount - 1
    return { streamSequence: message.seq, carried: isWhole ? found.last : found?.previous }
  }

  /** The sequence of the last message, at a look. */
  async lastStreamSequence(): Promise<number> {
    return (await this.#manager.streams.info(this.#names.stream)).state.last_seq
  }

  /** The group behind a batch; undefined where it is not there. */
  async groupsBehind(since: number): Promise<Groups | undefined> {
    if (!this.isUp) return undefined
    const at = this.#next?.since === since ? this.#next.streamSequence : await this.#placeOf(since)
    const first = await this.#part(at)
    if (first === undefined || first.part !== 0 || first.previous.sequence !== since) {
      this.#next = undefined
      return undefined
    }
    const { previous, last, partCount } = first
    const pieces = [first.bytes]
    for (let part = 1; part < partCount; part++) {
      const found = await this.#part(at + part)
      if (found?.part !== part || found.previous.hash !== previous.hash) return undefined
      pieces.push(found.bytes)
    }
    this.#next = { since: last.sequence, streamSequence: at + partCount }
    return { previous, last, bytes: Buffer.concat(pieces) }
  }

  /** Where the first message is that goes on with a batch or a later one. */
  async #placeOf(since: number): Promise<number> {
    const { state } = await this.#manager.streams.info(this.#names.stream)
    // The first one of a stream that never had one is 0, which nobody may ask for.
    let low = Math.max(1, state.first_seq)
    let high = state.last_seq + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const found = await this.#part(middle)
      if (found !== undefined && found.previous.sequence < since) low = middle + 1
      else high = middle
    }
    return low
  }

  async #part(streamSequence: number): Promise<CarriedPart | undefined> {
    const query = { seq: streamSequence }
    const message = await this.#manager.streams.getMessage(this.#names.stream, query)
    return message === null ? undefined : partOf(message)
  }
}

const NANOSECONDS_PER_MS = 1_000_000

const HEADERS = { previous: 'Hickory-Previous', last: 'Hickory-Last', part: 'Hickory-Part' }

function headersOf({ previous, last, part, partCount }: Omit<CarriedPart, 'bytes'>): MsgHdrs {
  const found = headers()
  found.set(HEADERS.previous, `${previous.sequence} ${previous.hash}`)
  found.set(HEADERS.last, `${last.sequence} ${last.hash}`)
  found.set(HEADERS.part, `${part} ${partCount}`)
  return found
}

/** Undefined of a message that nobody of us has sent. */
function partOf({ header, data }: StoredMsg): CarriedPart | undefined {
  const previous = linkIn(header.get(HEADERS.previous))
  const last = linkIn(header.get(HEADERS.last))
  const [, part, partCount] = /^(\d{1,6}) (\d{1,6})$/.exec(header.get(HEADERS.part)) ?? []
  if (previous === undefined || last === undefined || partCount === undefined) return undefined
  return { previous, last, part: Number(part), partCount: Number(partCount), bytes: data }
}

function linkIn(text: string): Link | undefined {
  const [, sequence, hash] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(text) ?? []
  return hash === undefined ? undefined : { sequence: Number(sequence), hash }
}
