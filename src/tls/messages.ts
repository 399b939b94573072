/**
 * The messages between the main thread and the TLS thread. All are plain data.
 *
 * @module
 */
import type { LogLevel } from '../log.js'
import type { ClientCertificates, TlsCredentials } from './credentials.js'

/** The data that the thread starts with. */
export interface TlsThreadData {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Whether another process may listen on the same port at the same time. */
  readonly sharesPort: boolean
  readonly credentials: TlsCredentials
  readonly clientCertificates: ClientCertificates
  /** Where it writes who is at the other end of each connection. */
  readonly peers: SharedArrayBuffer
  /** Sockets of the file system that take what was decrypted, in turn. */
  readonly socketPaths: readonly string[]
  readonly logLevel: LogLevel
  /** Those of `limits` by default. */
  readonly bounds?: Partial<TlsBounds>
}

/** The bounds on clients; the names are those of `limits`. */
export type TlsBounds = Readonly<
  Record<'tlsConnectionCount' | 'tlsHandshakeCount' | 'tlsHandshakeMs', number>
>

/** What the main thread calls. */
export interface TlsCalls {
  /** @returns the port; undefined where the address cannot be listened on */
  listen(): Promise<number | undefined>
  forward(socketPaths: readonly string[]): void
  show(credentials: TlsCredentials): void
  /** Takes no more connections; answers when those that were begun have been handed on. */
  stopListening(): Promise<void>
  /** Lets clients take what is left for them, then ends. */
  stop(waitMs: number): Promise<void>
}
