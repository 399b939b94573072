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
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StoredMsg,
} from '@nats-io/jetstream'
import type { Msg } from '@nats-io/transport-node'
import type { Link } from '../../chain/link.js'
import { limits } from '../../limits.js'
import type { Log, LogFounding, LogInfo, LogMessage, LogReader, LogStart } from '../log/log.js'
import type { Connection } from './connection.js'
import { Following, unlessMissing } from './log-following.js'
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

  /** It may be missing, and JetStream may not answer: each use asks it anew. */
  static async open(connection: Connection, names: Names): Promise<StreamLog> {
    const options = { timeout: limits.clusterCallMs, checkAPI: false }
    return new StreamLog(connection, names, await jetstreamManager(connection.nats, options))
  }

  /** @returns undefined where there is none */
  static async infoIfThere(connection: Connection, names: Names): Promise<LogInfo | undefined> {
    const log = await StreamLog.open(connection, names)
    return await log.info().catch(unlessMissing)
  }

  /**
   * Makes it. The same again changes nothing: an earlier attempt may have come that was not heard of.
   *
   * @throws  as a rejection, where there is another one, or that is not known
   */
  static async found(
    connection: Connection,
    names: Names,
    founding: LogFounding,
  ): Promise<StreamLog> {
    const log = await StreamLog.open(connection, names)
    const config = configOf(names, founding)
    log.#mustBeUp()
    try {
      // Servers of a cluster may not have found each other yet: one copy would be for good.
      const leastCount = connection.nats.info?.cluster === undefined ? 1 : 3
      await inCopies((num_replicas) => log.#add({ ...config, num_replicas }), leastCount)
    } catch (fault) {
      if (!isThereOtherwise(fault)) throw fault
      const { generation } = await log.info()
      if (generation !== founding.generation) {
        throw new Error(`there is a log of generation ${generation}`, { cause: fault })
      }
    }
    return log
  }

  /**
   * Removes the log that is there, if any, with all that it has, and makes another one. The same again changes nothing.
   *
   * @param replaced  the generation of the one that may be removed
   * @returns how many messages are removed
   * @throws  as a rejection, where there is another one, or that is not known
   */
  static async replace(
    connection: Connection,
    names: Names,
    founding: LogFounding,
    replaced: string,
  ): Promise<number> {
    const log = await StreamLog.open(connection, names)
    log.#mustBeUp()
    const there = await log.info().catch(unlessMissing)
    log.#mustBeUp()
    if (there !== undefined && there.generation === replaced) {
      await log.#manager.streams.delete(names.stream).catch(unlessMissing)
    } else if (there !== undefined && there.generation !== founding.generation) {
      throw new Error(`there is another log by now, made by ${there.founder ?? 'another program'}`)
    }
    await StreamLog.found(connection, names, founding)
    return there?.generation === replaced ? there.end - there.first : 0
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

  async info(): Promise<LogInfo> {
    const { config, state, cluster } = await this.#manager.streams.info(this.#names.stream)
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
  async #add(config: Parameters<JetStreamManager['streams']['add']>[0]): Promise<void> {
    const deadlineMs = performance.now() + limits.clusterCallMs
    for (;;) {
      try {
        await this.#manager.streams.add(config)
        return
      } catch (fault) {
        const isLate = performance.now() > deadlineMs
        if (isLate || !(fault instanceof JetStreamApiError)) throw fault
        if (fault.apiError().err_code !== NO_STORE) throw fault
      }
      await sleep(limits.natsRetryMs)
    }
  }

  /** The library would keep what is sent until there is a connection. */
  #mustBeUp(): void {
    if (!this.#connection.isUp) throw new Error('there is no connection to NATS')
  }
}

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
  const valid = (name: string, pattern: RegExp) => pattern.exec(metadata[name] ?? '') ?? undefined
  const [, sequence, hash] = valid(BASE, /^(\d{1,15}) ([0-9a-f]{64})$/) ?? []
  const base: Link | undefined =
    sequence === undefined ? undefined : { sequence: Number(sequence), hash }
  return {
    generation: valid(GENERATION, /^[0-9a-f]{16}$/)?.[0],
    founder: valid(FOUNDER, /^[a-z0-9][a-z0-9-]{0,31}$/)?.[0],
    base,
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
