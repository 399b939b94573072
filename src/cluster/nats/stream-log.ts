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
import { setTimeout as sleep } from 'node:timers/promises'
import {
  JetStreamApiCodes,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StoredMsg,
} from '@nats-io/jetstream'
import type { Msg } from '@nats-io/transport-node'
import { limits } from '../../limits.js'
import type { Log, LogFounding, LogInfo, LogMessage, LogReader, LogStart } from '../log/log.js'
import type { Connection } from './connection.js'
import { Following } from './log-following.js'
import type { Names } from './names.js'
import { inCopies, refuses } from './open-stream.js'

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

  /** It may be missing, and JetStream may not answer: each use asks it anew. */
  static async open(connection: Connection, names: Names): Promise<StreamLog> {
    const options = { timeout: limits.clusterCallMs, checkAPI: false }
    return new StreamLog(connection, names, await jetstreamManager(connection.nats, options))
  }

  /**
   * Makes it. The same again changes nothing: an earlier attempt may have come that was not heard of.
   *
   * @throws  as a rejection, where there is another one, or that is not known
   */
  async found(founding: LogFounding): Promise<void> {
    this.#mustBeUp()
    try {
      // Servers of a cluster may not have found each other yet: one copy would be for good.
      const isAlone = this.#connection.nats.info?.cluster === undefined
      await inCopies((num_replicas) => this.#add(founding, num_replicas), isAlone)
    } catch (fault) {
      if (!refuses(fault, NAME_IN_USE)) throw fault
      const generation = (await this.info())?.generation
      if (generation !== founding.generation) {
        throw new Error(`there is a log of generation ${generation}`, { cause: fault })
      }
    }
  }

  /**
   * Removes the log that is there, if any, with all that it has, and makes another one. The same again changes nothing.
   *
   * @param replaced  the generation of the one that may be removed
   * @returns how many messages are removed
   * @throws  as a rejection, where there is another one, or that is not known
   */
  async replace(founding: LogFounding, replaced: string): Promise<number> {
    this.#mustBeUp()
    const there = await this.info()
    this.#mustBeUp()
    const isReplaced = there?.generation === replaced
    if (there !== undefined && isReplaced) {
      await this.#manager.streams.delete(this.#names.stream).catch(unlessMissing)
    } else if (there !== undefined && there.generation !== founding.generation) {
      throw new Error(`there is another log by now, made by ${there.founder ?? 'another program'}`)
    }
    await this.found(founding)
    return there !== undefined && isReplaced ? there.end - there.first : 0
  }

  get messageBytes(): number {
    return this.#connection.partBytes
  }

  async append(bytes: Uint8Array): Promise<number> {
    this.#mustBeUp()
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

  async info(): Promise<LogInfo | undefined> {
    const found = await this.#manager.streams.info(this.#names.stream).catch(unlessMissing)
    if (found === undefined) return undefined
    const { config, state, cluster } = found
    return {
      ...foundingOf(config.metadata),
      // The first one of a stream that never had one is 0.
      first: Math.max(1, state.first_seq),
      end: state.last_seq + 1,
      missingCount: state.num_deleted ?? 0,
      copyCount: config.num_replicas,
      server: cluster?.leader,
    }
  }

  /** A server removes the files of a stream after it has said so, and refuses another one of its name meanwhile. */
  async #add(founding: LogFounding, num_replicas: number): Promise<void> {
    const config = { ...configOf(this.#names, founding), num_replicas }
    const deadlineMs = performance.now() + limits.clusterCallMs
    for (;;) {
      try {
        await this.#manager.streams.add(config)
        return
      } catch (fault) {
        if (performance.now() > deadlineMs || !refuses(fault, NO_STORE)) throw fault
      }
      await sleep(limits.natsRetryMs)
    }
  }

  /** The library would keep what is sent until there is a connection. */
  #mustBeUp(): void {
    if (!this.#connection.isUp) throw new Error('there is no connection to NATS')
  }
}

/** @throws  what does not say that there is no stream */
function unlessMissing(fault: unknown): undefined {
  if (!refuses(fault, JetStreamApiCodes.StreamNotFound)) throw fault
}

/** There is a stream of this name with other settings, which then are kept. */
const NAME_IN_USE = 10058

/** A stream is not made because its files cannot be. */
const NO_STORE = 10049

const NANOSECONDS_PER_MS = 1_000_000

/** In the metadata of the stream. */
const GENERATION = 'hickory-generation'
const FOUNDER = 'hickory-founder'
const BASE = 'hickory-base'

function configOf(names: Names, { generation, founder, base }: LogFounding) {
  return {
    name: names.stream,
    subjects: [names.log],
    max_bytes: limits.clusterStreamBytes,
    // The least that there is: nothing here has an id.
    duplicate_window: 100 * NANOSECONDS_PER_MS,
    deny_delete: true,
    deny_purge: true,
    allow_direct: false,
    republish: { src: names.log, dest: names.news },
    metadata: {
      [GENERATION]: generation,
      [FOUNDER]: founder,
      [BASE]: `${base.sequence} ${base.hash}`,
    },
  }
}

function foundingOf(metadata: Readonly<Record<string, string>> = {}) {
  const valid = (name: string, pattern: RegExp) => pattern.exec(metadata[name] ?? '')
  const base = valid(BASE, /^(\d{1,15}) ([0-9a-f]{64})$/)
  return {
    generation: valid(GENERATION, /^[0-9a-f]{16}$/)?.[0],
    founder: valid(FOUNDER, /^[a-z0-9][a-z0-9-]{0,31}$/)?.[0],
    base: base === null ? undefined : { sequence: Number(base[1]), hash: base[2] },
  }
}

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
