/**
 * uWebSockets.js for this folder, with the members that its types leave out.
 *
 * @module
 */

import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket,
} from 'uWebSockets.js'
import * as native from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'

export type { NativeRequest, NativeResponse }

export type ListenSocket = us_listen_socket

/** Names an app to other threads of the process; meaningless once that app is closed. */
export type AppDescriptor = number

export interface NativeApp extends Omit<TemplatedApp, 'listen'> {
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: ListenSocket | false) => void,
  ): NativeApp
  getDescriptor(): AppDescriptor
  addChildAppDescriptor(descriptor: AppDescriptor): NativeApp
  removeChildAppDescriptor(descriptor: AppDescriptor): NativeApp
}

const extended = native as unknown as {
  App(): NativeApp
  LIBUS_LISTEN_EXCLUSIVE_PORT: number
  _cfg(option: 'silent'): void
}

// Without this, answers name the server and its version.
extended._cfg('silent')

/** A status as it stands on the first line of an answer. */
export function statusLine(status: number): string {
  return statusLines.get(status) ?? String(status)
}

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, reason]) => [Number(code), `${code} ${reason}`]),
)

/** Headers as they stand in an answer, to be written by `writeHead`. */
export interface HeadBlock {
  readonly firstName: string
  /** The value of the first header, and all other headers, on lines of their own. */
  readonly rest: string
}

/** @param headers  one at least; names and values as they stand, without line ends */
export function headBlock(headers: readonly (readonly [name: string, value: string])[]): HeadBlock {
  const [[firstName, firstValue], ...others] = headers
  return { firstName, rest: firstValue + others.map((pair) => `\r\n${pair.join(': ')}`).join('') }
}

/**
 * Writes status and headers. The library takes any text for a value, so that all headers are one value:
 * each call into the library costs as much as what it writes.
 *
 * @param more  lines, each behind a line end; empty where there are none
 */
export function writeHead(
  native: NativeResponse,
  status: number,
  block: HeadBlock,
  more: string,
): void {
  if (status !== 200) native.writeStatus(statusLine(status))
  native.writeHeader(block.firstName, block.rest + more)
}

/** The address of the other end, as text. */
export function peerAddressOf(response: NativeResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1')
}

/** What a header of the PROXY protocol in front of the request says, binary; empty without one. */
export function proxiedAddressOf(response: NativeResponse): ArrayBuffer {
  return response.getProxiedRemoteAddress()
}

/**
 * Makes the library wait anew for a client that takes nothing; otherwise it closes the connection after
 * 10 seconds. `pause` alone would do the same, but would hide that the client leaves.
 */
export function waitAnew(response: NativeResponse): void {
  response.pause()
  response.resume()
}

/** One field of a form with several parts. */
interface FormPart {
  /** Undefined where the part does not say. */
  readonly name: string | undefined
  readonly data: ArrayBuffer
}

/** The parts of a form, as far as they are complete; undefined when the type names no boundary. */
export function formParts(body: Uint8Array, contentType: string): FormPart[] | undefined {
  // Copied, since the body may be a view into a larger buffer.
  return native.getParts(Uint8Array.from(body), contentType) as FormPart[] | undefined
}

export function createApp(): NativeApp {
  return extended.App()
}

/**
 * Listens on `host:port`.
 *
 * @param exclusive  false lets another process listen on the same port at the same time
 * @returns the socket and its port, or undefined when the address cannot be listened on
 */
export function listenOn(
  app: NativeApp,
  address: { host: string; port: number; exclusive: boolean },
): { socket: ListenSocket; port: number } | undefined {
  const options = address.exclusive ? extended.LIBUS_LISTEN_EXCLUSIVE_PORT : 0
  let listening: { socket: ListenSocket; port: number } | undefined
  // The callback runs before `listen` returns.
  app.listen(address.host, address.port, options, (socket) => {
    if (socket === false) return
    listening = { socket, port: native.us_socket_local_port(socket as us_socket) }
  })
  return listening
}

/**
 * Listens on a socket of the file system. An app that hands its connections to others must not: the library
 * ends the process.
 *
 * @returns undefined when the path cannot be listened on
 */
export function listenOnPath(app: NativeApp, path: string): ListenSocket | undefined {
  let listening: ListenSocket | undefined
  // The callback runs before `listen_unix` returns.
  app.listen_unix((socket: ListenSocket | false) => {
    if (socket !== false) listening = socket
  }, path)
  return listening
}

export function stopListeningOn(socket: ListenSocket): void {
  native.us_listen_socket_close(socket)
}
