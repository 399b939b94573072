/**
 * What one machine, or a command, uses of NATS in a cluster.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KV } from '@nats-io/kv'
import type { Groups } from '../../journal/groups.js'
import { limits } from '../../limits.js'
import { monotonicMs } from '../../monotonic.js'
import type { SentGroups } from '../agreement/messages.js'
import type { NodeReport } from '../node-report.js'
import { Calls, type Serves } from './calls.js'
import { ClusterFiles } from './cluster-files.js'
import { Connection, type ConnectionEvents, type NatsSettings } from './connection.js'
import { openBucket, WriterLease } from './lease.js'
import { LogStream } from './log-stream.js'
import { type Names, namesOf } from './names.js'
import { Opened } from './opened.js'
import { pack, unpackOrNothing } from './packing.js'
import { PartsGatherer, partsOf } from './parts.js'

interface NatsOptions extends ConnectionEvents {
  readonly settings: NatsSettings
  readonly clusterId: string
  /** Of the machine; a command has one that no machine has. */
  readonly name: string
  /** Answers what others ask; undefined of a command. */
  readonly serves: Serves | undefined
  /** Unless given, a command asks as an operator, and a machine as one. */
  readonly asksAs?: keyof Serves
}

export class ClusterNats {
  /** Between machines alone. */
  readonly connection: Connection
  readonly #options: NatsOptions
  /** To JetStream: a server whose JetStream is stuck, as behind a full disk, reads nothing more of whoever asks for it. */
  #storage: Promise<Connection> | undefined
  #isClosed = false
  /** Until then the stream is not asked for groups: it did not answer, and whoever writes has them, too. */
  #streamPassedOverMs = 0
  readonly names: Names
  readonly calls: Calls
  readonly lease: WriterLease
  readonly bucket: Opened<KV>
  readonly stream: Opened<LogStream>
  readonly files: Opened<ClusterFiles>

  private constructor(connection: Connection, options: NatsOptions) {
    const { clusterId, name, serves, asksAs } = options
    this.connection = connection
    this.#options = options
    this.names = namesOf(clusterId)
    this.calls = new Calls(connection, this.names, name, serves, asksAs)
    this.bucket = new Opened(async () => openBucket(await this.#toStorage(), this.names))
    this.stream = new Opened(async () => LogStream.open(await this.#toStorage(), this.names))
    this.files = new Opened(async () => ClusterFiles.open(await this.#toStorage(), this.names))
    this.lease = new WriterLease(this.bucket, name)
  }

  /** @throws OperatorError */
  static async open(options: NatsOptions): Promise<ClusterNats> {
    const { settings, name } = options
    return new ClusterNats(await Connection.open(settings, name, options), options)
  }

  get isUp(): boolean {
    return this.connection.isUp
  }

  tell(report: NodeReport): void {
    const { name } = report.agreement
    this.connection.publish(this.names.report(name), pack(report))
  }

  /** @returns stops to hear */
  hear(onReport: (report: NodeReport) => void): () => void {
    const subscription = this.connection.subscribe(this.names.reports, ({ data }) => {
      const report = unpackOrNothing(data) as NodeReport | undefined
      if (report?.agreement !== undefined) onReport(report)
    })
    return () => subscription.unsubscribe()
  }

  send(sent: SentGroups): void {
    for (const part of partsOf(pack(sent), this.connection.partBytes)) {
      this.connection.publish(this.names.groups, part)
    }
  }

  receive(onGroups: (sent: SentGroups) => void): void {
    const gatherer = new PartsGatherer()
    this.connection.subscribe(this.names.groups, ({ data }) => {
      const message = gatherer.add(data)
      const sent = message && (unpackOrNothing(message) as SentGroups | undefined)
      if (sent?.groups !== undefined) onGroups(sent)
    })
  }

  /** Groups behind a batch that the stream carries. */
  async carried(since: number): Promise<Groups | undefined> {
    if (!this.isUp || monotonicMs() < this.#streamPassedOverMs) return undefined
    try {
      return await this.stream.use((stream) => stream.groupsBehind(since))
    } catch (fault) {
      this.#streamPassedOverMs = monotonicMs() + limits.streamPassedOverMs
      throw fault
    }
  }

  async close(): Promise<void> {
    this.calls.close()
    this.#isClosed = true
    const storage = this.#storage?.then(
      (connection) => connection.nats.close(),
      () => {},
    )
    await this.connection.close()
    // Nothing that was sent there is waited for: it may be stuck.
    await Promise.race([storage, sleep(0)])
  }

  /** It is lost and made again without a word: whoever asks there hears of it. */
  async #toStorage(): Promise<Connection> {
    if (this.#isClosed) throw new Error('the connection is closed')
    const { settings, name, onDenied } = this.#options
    this.#storage ??= Connection.open(settings, name, { onChange() {}, onDenied })
    try {
      return await this.#storage
    } catch (fault) {
      this.#storage = undefined
      throw fault
    }
  }
}
