/**
 * The connection of a process to NATS. It is made again for as long as the process lives.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type Msg,
  type NatsConnection,
  nkeyAuthenticator,
  PermissionViolationError,
  type Subscription,
} from '@nats-io/transport-node'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { whyUnread } from '../../system-refusals.js'

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

/** Who hears of a connection. */
export interface ConnectionEvents {
  /** Of each loss and each return. */
  onChange(isUp: boolean): void
  /** Of what the server does not permit. */
  onDenied(reason: string): void
}

export class Connection {
  readonly nats: NatsConnection
  readonly #listeners: Set<ConnectionEvents['onChange']>
  #isUp = true

  private constructor(nats: NatsConnection, events: ConnectionEvents) {
    this.nats = nats
    this.#listeners = new Set([events.onChange])
    void this.#watch(events)
  }

  /**
   * One attempt. A connection that was made and is lost is made again by itself.
   *
   * @param name  of the machine, for whoever looks at the server
   * @throws OperatorError  Usage where a file cannot be used; Failed where nobody answers, or does not let it in
   */
  static async open(
    settings: NatsSettings,
    name: string,
    events: ConnectionEvents,
  ): Promise<Connection> {
    return new Connection(await connected(settings, name), events)
  }

  /** Whether there is one now. Without it nothing is sent: the library would keep it all. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** @returns hears no more */
  onChange(listener: ConnectionEvents['onChange']): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What cannot be sent is lost. */
  publish(subject: string, bytes: Uint8Array, reply?: string): void {
    if (!this.#isUp || this.nats.isClosed()) return
    this.nats.publish(subject, bytes, reply === undefined ? {} : { reply })
  }

  /**
   * @param take  what it throws ends the process, as anything does that is not caught: inside the library it would only
   *     end the reading of this connection, without a word
   * @param queue  where one of all that name it gets each message
   */
  subscribe(subject: string, take: (message: Msg) => void, queue?: string): Subscription {
    return this.nats.subscribe(subject, {
      ...(queue !== undefined && { queue }),
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

  /** After what was sent, unless the server takes nothing. */
  async close(): Promise<void> {
    const late = sleep(limits.clusterCallMs, undefined, { ref: false })
    await Promise.race([this.nats.flush().catch(() => {}), late])
    await this.nats.close()
  }

  async #watch({ onDenied }: ConnectionEvents): Promise<void> {
    for await (const status of this.nats.status()) {
      const { type } = status
      // The library alone would wait until all is sent, to a server that reads no more.
      if (type === 'staleConnection') {
        ;(this.nats as unknown as WithSocket).protocol.transport.socket?.destroy()
      } else if (type === 'error' && status.error instanceof PermissionViolationError) {
        onDenied(status.error.message)
      }
      const isUp = type === 'reconnect' || (type !== 'disconnect' && this.#isUp)
      if (isUp === this.#isUp) continue
      this.#isUp = isUp
      for (const listener of this.#listeners) listener(isUp)
    }
  }
}

/** What the library has and does not tell of. */
interface WithSocket {
  readonly protocol: { readonly transport: { readonly socket?: Socket } }
}

const HEADER_BYTES = 1_024

async function connected(settings: NatsSettings, name: string): Promise<NatsConnection> {
  const options = optionsFor(settings, name)
  try {
    return await connect(options)
  } catch (fault) {
    const { message } = fault as Error
    const { code = 'Failed', hint } = remedyOf(message, settings) ?? {}
    const found = hint === undefined ? message : `${message}: ${hint}`
    throw new OperatorError(code, `NATS at ${settings.servers.join(', ')}: ${found}`, {
      cause: fault,
    })
  }
}

interface Remedy {
  /** Usage where waiting does not help. */
  readonly code: 'Usage' | 'Failed'
  readonly hint: string
}

/** What an operator can do about a failure of the library, which knows no flags. */
function remedyOf(message: string, { credentials, nkey }: NatsSettings): Remedy | undefined {
  if (/^nkeys: /.test(message)) {
    return { code: 'Usage', hint: `--cluster-nkey ${nkey} must have a seed, such as SU…` }
  }
  if (/parse credentials/.test(message)) {
    return {
      code: 'Usage',
      hint: `--cluster-credentials ${credentials} must have a JWT and a seed`,
    }
  }
  if (/unable to verify|self-signed/.test(message)) {
    return { code: 'Failed', hint: 'name the authority of its certificate with --cluster-tls-ca' }
  }
  if (!/^authori[sz]ation violation|^user authentication/i.test(message)) return undefined
  const hint =
    credentials !== undefined
      ? `the server does not let in who has --cluster-credentials ${credentials}`
      : nkey !== undefined
        ? `the server does not know the nkey of --cluster-nkey ${nkey}`
        : 'the server lets nobody in without --cluster-nkey or --cluster-credentials'
  return { code: 'Failed', hint }
}

function optionsFor(settings: NatsSettings, name: string): ConnectionOptions {
  const { servers, credentials, nkey, tls } = settings
  const authenticator =
    credentials !== undefined
      ? credsAuthenticator(fileOf(credentials, '--cluster-credentials'))
      : nkey !== undefined
        ? nkeyAuthenticator(Buffer.from(fileOf(nkey, '--cluster-nkey').toString().trim()))
        : undefined
  const files: { caFile?: string; certFile?: string; keyFile?: string } = {}
  for (const [name, path, flag] of [
    ['caFile', tls?.authority, '--cluster-tls-ca'],
    ['certFile', tls?.certificate, '--cluster-tls-cert'],
    ['keyFile', tls?.key, '--cluster-tls-key'],
  ] as const) {
    if (path === undefined) continue
    // The library reads it with each connection, so that it may be renewed.
    fileOf(path, flag)
    files[name] = path
  }
  return {
    // In the order in which they are named: a server that stands still then cuts off those alone that name it first.
    servers: [...servers],
    noRandomize: true,
    name: `hickory ${name}`,
    ...(authenticator !== undefined && { authenticator }),
    ...(tls !== undefined && { tls: { ...files, ...checkedBy(servers) } }),
    timeout: limits.natsConnectMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: limits.natsRetryMs,
    reconnectJitter: limits.natsRetryMs,
    reconnectJitterTLS: limits.natsRetryMs,
    // A connection of which the other end is gone without a word is found out by pings.
    pingInterval: limits.natsPingMs,
    maxPingOut: 2,
    // With servers that others tell of, the library would go on for ever with one that lets nobody in.
    ignoreClusterUpdates: true,
    // Who is let in may change while the service runs.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  }
}

/**
 * A server must have the certificate of one of those that are named. The library does not tell Node.js which one it has
 * reached by an address: the certificate would be compared with `localhost`.
 */
function checkedBy(servers: readonly string[]): object {
  const hosts = servers.map((server) => new URL(server).hostname.replace(/^\[|\]$/g, ''))
  return {
    checkServerIdentity(_: string, certificate: PeerCertificate) {
      const faults = hosts.map((host) => checkServerIdentity(host, certificate))
      return faults.includes(undefined) ? undefined : faults[0]
    },
  }
}

function fileOf(path: string, flag: string): Buffer {
  try {
    return readFileSync(path)
  } catch (fault) {
    throw new OperatorError('Usage', `${flag} ${path} ${whyUnread(fault)}`, { cause: fault })
  }
}
