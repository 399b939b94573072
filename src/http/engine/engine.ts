/**
 * The HTTP library below the service, as small as the service needs it. There are two: uWebSockets.js, an
 * addon of Node.js that is about twice as fast (`addon.ts`), and `node:http`, which every Node.js has
 * (`node.ts`). All differences between them that a client can see are in docs/operations/engines.md.
 *
 * The names are those of uWebSockets.js, whose own objects are handed on as they are.
 *
 * @module
 */

export type EngineName = 'uws' | 'node'

export interface Engine {
  readonly name: EngineName
  /**
   * Whether it is certain where a body in chunks ends (RFC 9112, 7.1). Otherwise its connection must not be
   * used again.
   */
  readonly readsChunksExactly: boolean
  createApp(handlers: AppHandlers): EngineApp
  /**
   * Whether the library itself has told a client to send its body.
   *
   * @param expected  the value of Expect, as it was sent
   */
  hasContinued(expected: string): boolean
  /** Tells a client that waits for it to send its body. To be called before the answer is begun. */
  continueBody(response: EngineResponse): void
}

export interface AppHandlers {
  /**
   * A request with any method and path. It must attach `onAborted` before anything can throw, and answer
   * now or later.
   */
  request(response: EngineResponse, request: EngineRequest): void
  /** A connection has come, 1, or gone, -1. */
  connection?(connection: Pick<EngineResponse, 'close'>, change: 1 | -1): void
}

/** A server of one thread. */
export interface EngineApp {
  /**
   * Listens on `host:port`.
   *
   * @returns the port, or undefined when the address cannot be listened on
   */
  listen(address: ListenAddress): Promise<number | undefined>
  /**
   * Listens on a socket of the file system, to which only the TLS thread connects. An app that hands its
   * connections to others must not: uWebSockets.js ends the process.
   *
   * @returns false when the path cannot be listened on
   */
  listenOnPath(path: string): Promise<boolean>
  /** Refuses new connections. */
  stopListening(): void
  /** Closes every connection, at once. To be called once. */
  close(): void
  /** How other apps of the process get its connections; undefined where an engine cannot do that. */
  readonly handOver: HandOver | undefined
}

export interface ListenAddress {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Lets others listen on the same port at the same time, so that the system deals connections out. */
  readonly isShared: boolean
}

interface HandOver {
  /** Names this app to other threads. */
  readonly descriptor: AppDescriptor
  /** Gives new connections to this app as well, from now on. */
  add(descriptor: AppDescriptor): void
}

/** Names an app to other threads of the process; meaningless once that app is closed. */
export type AppDescriptor = number

/** Gone as soon as the handler of the request returns. */
export interface EngineRequest {
  /** As sent, in the case that was sent. */
  getCaseSensitiveMethod(): string
  /** As sent, without the query. */
  getUrl(): string
  /** As sent, without the question mark; undefined or `''` without one. */
  getQuery(): string | undefined
  /** @param callback  is called for each header that was sent, with its name in lower case */
  forEach(callback: (name: string, value: string) => void): void
}

/** Must not be touched when it has ended, or its connection has gone. */
export interface EngineResponse {
  /** @param handler  called once if the connection goes before the answer has ended */
  onAborted(handler: () => void): unknown
  /**
   * Begins to take the body. To be called before the handler of the request returns, if at all.
   *
   * @param handler  gets the pieces, whose memory is lost when it returns. The first one comes at once, and is
   *   empty if nothing has arrived
   */
  onData(handler: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  /**
   * @param handler  called when there is room again. It gets how much of the body has been taken, and returns
   *   whether it has written all that waited
   */
  onWritable(handler: (offset: number) => boolean): unknown
  /** Sends what is written meanwhile together. */
  cork(write: () => void): unknown
  writeStatus(line: string): unknown
  /** @param value  may hold other headers, on lines of their own */
  writeHeader(name: string, value: string): unknown
  /** Ends the answer with a body; behind `write`, with the last piece. */
  end(body?: string | Uint8Array, closesConnection?: boolean): unknown
  endWithoutBody(): unknown
  /**
   * Writes a part of a body whose length is told.
   *
   * @returns whether all of the piece was taken, and whether the body is complete; `getWriteOffset` tells
   *   how much was taken
   */
  tryEnd(piece: string | Uint8Array, totalBytes: number): [fits: boolean, isComplete: boolean]
  /** Bytes of the body that were taken. */
  getWriteOffset(): number
  /**
   * Writes a piece of a body of unknown length, and takes all of it.
   *
   * @returns false when it waits, after which nothing should be written until there is room again
   */
  write(piece: string | Uint8Array): boolean
  /** Breaks the connection off. */
  close(): unknown
  pause(): unknown
  resume(): unknown
  /** The address of the other end, in ASCII: IPv6 in full. */
  getRemoteAddressAsText(): ArrayBuffer
  /** The source address of the PROXY header in front of the request, binary; empty without one. */
  getProxiedRemoteAddress(): ArrayBuffer
}
