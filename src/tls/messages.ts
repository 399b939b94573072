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
  /** Those of `limits`, unless given. */
  readonly bounds?: Partial<TlsBounds>
}

/** The bounds on clients; the names are those of `limits`. */
export type TlsBounds = Readonly<
  Record<'tlsConnectionCount' | 'tlsHandshakeCount' | 'tlsHandshakeMs', number>
>

/** To the thread. */
export type TlsOrder =
  /** Hand new connections to these sockets from now on. */
  | { readonly kind: 'forward'; readonly socketPaths: readonly string[] }
  /** Show this certificate to new connections. */
  | { readonly kind: 'credentials'; readonly credentials: TlsCredentials }
  /** Take no more connections. Answered by `stopped` when those that were begun have been handed on. */
  | { readonly kind: 'stopListening' }
  /** Let clients take what is left for them, then end. */
  | { readonly kind: 'end'; readonly deadlineMs: number }

/** From the thread. */
export type TlsReport =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'cannotListen' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly reason: string }
