/**
 * Whether the service is ready and still answers rightly.
 *
 * @module
 */

import { compareKnown, type Known, knownRequests } from './known.js'
import { ANSWER_MS } from './lane.js'
import type { FuzzWorld } from './world.js'

/** @returns a check that says what is wrong, or nothing */
export function createHealthCheck(
  url: string,
  world: FuzzWorld,
): () => Promise<string | undefined> {
  const known = knownRequests(world)
  return async () => {
    try {
      const ready = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) })
      if (!ready.ok) return `/readyz answers ${ready.status}`
      for (const request of known) {
        const fault = await ask(url, request)
        if (fault !== undefined) return fault
      }
      return undefined
    } catch (error) {
      return `a known request is not answered: ${(error as Error).name}`
    }
  }
}

async function ask(url: string, known: Known): Promise<string | undefined> {
  const response = await fetch(`${url}/api/recipients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: known.body,
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const text = await response.text()
  return response.ok ? compareKnown(known, text) : `a known request is answered ${response.status}`
}
