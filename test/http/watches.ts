/**
 * A server whose watchers are told events by the test.
 *
 * @module
 */
import type { Test } from 'tap'
import { ServiceError, type ServiceErrorCode } from '../../src/errors.js'
import { watchRoutes } from '../../src/http/events.js'
import type { ContextWatches, EndReason, Watcher } from '../../src/operations/context-watches.js'
import type { Reply } from '../../src/selection/reply.js'
import { startServer } from './wire.js'

export const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
export const PATH = `/api/contexts/${ID}/events`

class Watches implements ContextWatches {
  readonly watchers = new Set<Watcher>()
  readonly knownIds: (string | undefined)[] = []
  #fault: ServiceError | undefined

  get watcherCount(): number {
    return this.watchers.size
  }

  /** Refuses clients that join from now on. */
  refuse(code: ServiceErrorCode): void {
    this.#fault = new ServiceError(code, 'not now')
  }

  async join(contextId: string, _: unknown, watcher: Watcher, knownId: string | undefined) {
    if (this.#fault !== undefined) throw this.#fault
    if (contextId !== ID) throw new Error(`another context: ${contextId}`)
    this.knownIds.push(knownId)
    this.watchers.add(watcher)
    await Promise.resolve()
    return () => void this.watchers.delete(watcher)
  }

  tell(json: string, id = 'e1'): void {
    const event = { kind: 'counts', id, json } as const
    for (const watcher of this.watchers) watcher.tell(event)
  }

  stop(why: EndReason = 'stopping'): void {
    for (const watcher of this.watchers) watcher.end(why)
  }
}

export async function startWatches(t: Test, options: Parameters<typeof startServer>[2] = {}) {
  const watches = new Watches()
  const watcherCount = () => watches.watcherCount
  const echo = {
    path: '/echo',
    methods: {},
    any: (_: unknown, reply: Reply, body: Uint8Array) =>
      reply.send(200, { 'Content-Type': 'application/json' }, Buffer.from(body)),
  }
  const routes = [...watchRoutes(watches), echo]
  return { watches, ...(await startServer(t, routes, { watcherCount, ...options })) }
}
