/**
 * The connection of a process to NATS. It is made again for as long as the process lives.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type Msg,
  type NatsConnection,
  nkeyAuthenticator,
  type Subscription,
} from '@nats-io/transport-node'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'

/** How NATS is reached. Plain data, which is kept for commands, too. */
export interface NatsSettings {
  /** Such as `nats://127.0.0.1:4222`. */
  readonly servers: readonly string[]
  /** Of a file with a JWT and a seed; absolute, as all of these. */
  readonly credentials?: string | undefined
  /** Of a file with the seed of an nkey. */
  readonly nkey?: string | undefined
  readonly tls?: NatsTls | undefined
}

interface NatsTls {
  readonly authority?: string | undefined
  readonly certificate?: string | undefined
  readonly key?: string | undefined
}

export class Connection {
  readonly nats: NatsConnection
  readonly #onChange: (isUp: boolean) => void
  #isUp = true

  private constructor(nats: NatsConnection, onChange: (isUp: boolean) => void) {
    this.nats = nats
    this.#onChange = onChange
    void this.#watch()
  }

  /**
   * One attempt. A connection that was made and is lost is made again by itself.
   *
   * @param name  of the machine, for whoever looks at the server
   * @param onChange  hears of each loss and each return
   * @throws OperatorError  Usage where a file cannot be used; Failed where nobody answers, or does not let it in
   */
  static async open(
    settings: NatsSettings,
    name: string,
    onChange: (isUp: boolean) => void = () => {},
  ): Promise<Connection> {
    return new Connection(await connected(settings, name), onChange)
  }

  /** Whether there is one now. Without it nothing is sent: the library would keep it all. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** What cannot be sent is lost. */
  publish(subject: string, bytes: Uint8Array, reply?: string): void {
    if (!this.#isUp || this.nats.isClosed()) return
    this.nats.publish(subject, bytes, reply === undefined ? {} : { reply })
  }

  /**
   * @param take  what it throws ends the process, as anything does that is not caught: inside the library it would only
   *     end the reading of this connection, without a word
   */
  subscribe(subject: string, take: (message: Msg) => void): Subscription {
    return this.nats.subscribe(subject, {
      callback(fault, message) {
        if (fault !== null) return
        try {
          take(message)
        } catch (thrown) {
          setImmediate(() => {
            throw thrown
          })
        }
      },
    })
  }

  /** What a part of a message may take: what the server takes, with room for headers. */
  get partBytes(): number {
    const mostBytes = (this.nats.info?.max_payload ?? limits.messagePartBytes) - HEADER_BYTES
    return Math.min(limits.messagePartBytes, mostBytes)
  }

  /** After what was sent. */
  async close(): Promise<void> {
    await this.nats.flush().catch(() => {})
    await this.nats.close()
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.nats.status()) {
      const isUp = type === 'reconnect' || (type !== 'disconnect' && this.#isUp)
      if (isUp === this.#isUp) continue
      this.#isUp = isUp
      this.#onChange(isUp)
    }
  }
}

const HEADER_BYTES = 1_024

async function connected(settings: NatsSettings, name: string): Promise<NatsConnection> {
  const options = optionsFor(settings, name)
  try {
    return await connect(options)
  } catch (fault) {
    const { message } = fault as Error
    throw new OperatorError('Failed', `NATS at ${settings.servers.join(', ')}: ${message}`, {
      cause: fault,
    })
  }
}

function optionsFor(settings: NatsSettings, name: string): ConnectionOptions {
  const { servers, credentials, nkey, tls } = settings
  const authenticator =
    credentials !== undefined
      ? credsAuthenticator(fileOf(credentials, '--cluster-credentials'))
      : nkey !== undefined
        ? nkeyAuthenticator(Buffer.from(fileOf(nkey, '--cluster-nkey').toString().trim()))
        : undefined
  return {
    servers: [...servers],
    name: `hickory ${name}`,
    ...(authenticator !== undefined && { authenticator }),
    ...(tls !== undefined && {
      tls: {
        ...(tls.authority !== undefined && { caFile: tls.authority }),
        ...(tls.certificate !== undefined && { certFile: tls.certificate }),
        ...(tls.key !== undefined && { keyFile: tls.key }),
      },
    }),
    timeout: limits.natsConnectMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: limits.natsRetryMs,
    reconnectJitter: limits.natsRetryMs,
    reconnectJitterTLS: limits.natsRetryMs,
    // A connection of which the other end is gone without a word is found out by pings.
    pingInterval: limits.natsPingMs,
    maxPingOut: 2,
    // Who is let in may change while the service runs.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  }
}

function fileOf(path: string, flag: string): Buffer {
  try {
    return readFileSync(path)
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    throw new OperatorError('Usage', `${flag} ${path} cannot be read (${code})`, { cause: fault })
  }
}
