/**
 * What one machine, or a command, uses of NATS in a cluster.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeReport } from '../reports.js'
import { Calls, type Serves } from './calls.js'
import { ClusterFiles } from './cluster-files.js'
import { Connection, type ConnectionEvents, type NatsSettings } from './connection.js'
import { type Names, namesOf } from './names.js'
import { Opened } from './opened.js'
import { pack, unpackOrNothing } from './parts.js'
import { StreamLog } from './stream-log.js'

interface NatsOptions extends ConnectionEvents {
  readonly settings: NatsSettings
  readonly clusterId: string
  /** Of the machine; a command has one that no machine has. */
  readonly name: string
  /** Answers what others ask; undefined of a command. */
  readonly serves: Serves | undefined
  /** As a machine unless given. */
  readonly asksAs?: keyof Serves
}

export class ClusterNats {
  /** Between machines alone. */
  readonly connection: Connection
  readonly #options: NatsOptions
  /** To JetStream: a server whose JetStream is stuck, as behind a full disk, reads nothing more of whoever asks for it. */
  #storage: Promise<Connection> | undefined
  #isClosed = false
  readonly names: Names
  readonly calls: Calls
  readonly files: Opened<ClusterFiles>

  private constructor(connection: Connection, options: NatsOptions) {
    const { clusterId, name, serves, asksAs } = options
    this.connection = connection
    this.#options = options
    this.names = namesOf(clusterId)
    this.calls = new Calls(connection, this.names, name, serves, asksAs)
    this.files = new Opened(async () => ClusterFiles.open(await this.#toStorage(), this.names))
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
    this.connection.publish(this.names.report(report.name), pack(report))
  }

  /** @returns stops to hear */
  hear(onReport: (report: NodeReport) => void): () => void {
    const subscription = this.connection.subscribe(this.names.reports, ({ data }) => {
      const report = unpackOrNothing(data) as NodeReport | undefined
      if (typeof report?.name === 'string' && report.last !== undefined) onReport(report)
    })
    return () => subscription.unsubscribe()
  }

  /**
   * The log, and the connection to the server of NATS by which it is used.
   *
   * @throws OperatorError  as a rejection, where no server answers
   */
  async openLog(): Promise<{ readonly stream: StreamLog; readonly connection: Connection }> {
    const connection = await this.#toStorage()
    return { stream: await StreamLog.open(connection, this.names), connection }
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
