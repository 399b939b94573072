/**
 * Where clients come in: the port, and how connections get from there to the front threads.
 *
 * @module
 */
import type { Config } from '../config.js'
import { sharesPorts } from '../http/engine/choose.js'
import type { Engine } from '../http/engine/engine.js'
import { type Acceptor, afterNextPoll, listen, refuseUsedPort } from '../http/listen.js'
import type { Front } from './fronts.js'
import type { FrontSocket, TlsNews } from './messages.js'

export interface Entrance {
  /** What a front thread listens on by itself; undefined where connections are handed to it. */
  socketOf(frontIndex: number): FrontSocket | undefined
  /**
   * Takes the port. Until it is opened, it answers 503 by itself.
   *
   * @throws OperatorError
   */
  listen(): Promise<void>
  /** The one that is listened on, which the system chose when 0 was asked for. */
  readonly port: number
  /** When the certificate that is shown expires, in ISO 8601; left out where there is none. */
  readonly certificateExpires?: () => string
  /**
   * Gives connections to the fronts from now on.
   *
   * @throws OperatorError
   */
  open(fronts: readonly Front[]): Promise<void>
  /**
   * Reads the files of the entrance again.
   *
   * @returns what the fronts are to tell; undefined where there are no such files
   */
  reload(): TlsNews | undefined
  /** Rejects when it fails; never resolves. */
  readonly failure: Promise<never>
  /** Refuses new connections, once those that wait to be taken have been handed to the fronts. */
  stopListening(): Promise<void>
  /** Ends it, when the fronts have ended. */
  close(): Promise<void>
}

/** The entrance of a service without TLS, by an engine whose connections can be handed over. */
export function createPlainEntrance(engine: Engine, { host, port, sharePort }: Config): Entrance {
  let acceptor: Acceptor | undefined
  return {
    socketOf: () => undefined,
    async listen() {
      acceptor = await listen(engine, { host, port, isShared: sharePort })
    },
    get port() {
      return acceptor?.port ?? port
    },
    async open(fronts) {
      for (const front of fronts) acceptor?.addFront(front.descriptor)
    },
    reload: () => undefined,
    failure: new Promise<never>(() => {}),
    stopListening: async () => acceptor?.stopListening(),
    close: async () => acceptor?.close(),
  }
}

/**
 * How many front threads can listen on one port.
 *
 * @param wantedCount  of front threads
 */
export function dealtFrontCount(engine: Engine, wantedCount: number, isTls: boolean): number {
  return isTls || engine.name === 'uws' || sharesPorts() ? wantedCount : 1
}

export function createDealtEntrance(
  engine: Engine,
  { host, port: askedPort, sharePort }: Config,
): Entrance {
  const isShared = sharesPorts()
  /** Answers while there are no fronts, and keeps the port. */
  let starting: Acceptor | undefined
  let port = askedPort
  return {
    socketOf: () => undefined,
    async listen() {
      // Others answer on a port that is shared, and its clients are not to hear that this service starts.
      if (sharePort && askedPort !== 0) return
      if (!sharePort) await refuseUsedPort(host, askedPort)
      starting = await listen(engine, { host, port: askedPort, isShared })
      port = starting.port
    },
    get port() {
      return port
    },
    async open(fronts) {
      // Where a port cannot be shared, clients are refused for the moment in between.
      if (!isShared) await starting?.stopListening()
      const address = { host, port, isShared }
      await Promise.all(fronts.map(({ ask }) => ask.listen(address)))
      // Those that have come to it still get its answer.
      if (isShared) await starting?.stopListening()
    },
    reload: () => undefined,
    failure: new Promise<never>(() => {}),
    // Each front does so itself, as soon as it drains.
    stopListening: afterNextPoll,
    async close() {
      starting?.close()
    },
  }
}
