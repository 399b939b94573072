/**
 * The entrance of a service without TLS, by an engine whose connections cannot be handed over: each front
 * thread listens on the port, and the system deals connections out.
 *
 * @module
 */
import type { Config } from '../config.js'
import { sharesPorts } from '../http/engine/choose.js'
import type { Engine } from '../http/engine/engine.js'
import { type Acceptor, afterNextPoll, listen, refuseUsedPort } from '../http/listen.js'
import type { Entrance } from './entrance.js'

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
