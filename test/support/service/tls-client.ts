/**
 * Calls a service over TLS, as a client that verifies it.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Certificate } from './certificates.js'

export interface TlsAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The serial number of the certificate that the service showed. */
  readonly serialNumber: string
  /** Whether the connection had been used before. */
  readonly isReused: boolean
}

/** @param authority  the one that the client trusts */
export function tlsAgent(
  authority: Certificate,
  own?: Certificate,
  options: AgentOptions = {},
): Agent {
  return new Agent({
    ca: readFileSync(authority.certificate),
    ...(own && { cert: readFileSync(own.certificate), key: readFileSync(own.key) }),
    ...options,
  })
}

/** One request; a POST where there is a body. */
export function callTls(
  agent: Agent,
  url: string,
  options: { readonly body?: string | Uint8Array; readonly headers?: Record<string, string> } = {},
): Promise<TlsAnswer> {
  const { body, headers = {} } = options
  const method = body === undefined ? 'GET' : 'POST'
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers: { ...headers, ...length } }, (answer) => {
      const { serialNumber } = (answer.socket as TLSSocket).getPeerCertificate()
      const pieces: Buffer[] = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(pieces),
          serialNumber,
          isReused: sent.reusedSocket,
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Shakes hands by `openssl s_client`, and hangs up. */
export function handshake(
  url: string,
  ...args: readonly string[]
): { readonly isDone: boolean; readonly output: string } {
  const { host } = new URL(url)
  const { status, stdout, stderr } = spawnSync('openssl', ['s_client', '-connect', host, ...args], {
    input: '',
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { isDone: status === 0, output: stdout + stderr }
}
