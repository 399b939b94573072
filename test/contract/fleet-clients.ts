/**
 * Clients that ask over TLS all the time and compare each answer with what it must be, and one that stores
 * contexts.
 *
 * @module
 */
import type { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Certificate } from '../support/service/certificates.js'
import { callTls, tlsAgent } from '../support/service/tls-client.js'

/** A request that changes nothing. */
export interface Read {
  readonly name: string
  readonly path: string
  readonly body?: string
}

export interface FleetOptions {
  readonly url: string
  readonly authority: Certificate
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly reads: readonly Read[]
  /** Answered in many pieces, of which the first may have left when its service dies. */
  readonly longRead: Read
  /** Between two requests of a client. */
  readonly pauseMs: number
  /** The bodies of all of these answers, by name. */
  readonly expected: ReadonlyMap<string, Buffer>
}

export interface Tally {
  readonly requestCount: number
  /** Those that a busy service refused, so that their client asked again. */
  readonly refusedCount: number
  /** What went wrong, of requests that change nothing. */
  readonly faults: readonly string[]
  readonly longCount: number
  /** Of those, how many broke off. One that did not, but is not whole, is a fault. */
  readonly longCutCount: number
  /** Names of contexts that were acknowledged. */
  readonly stored: readonly string[]
  /** Names of contexts that were sent and not acknowledged, with the reason. */
  readonly unsure: readonly (readonly [name: string, why: string])[]
}

/** @returns ends the clients, and tells */
export function startFleet(options: FleetOptions): () => Promise<Tally> {
  const state: State = {
    isOver: false,
    requestCount: 0,
    refusedCount: 0,
    faults: [],
    longCount: 0,
    longCutCount: 0,
    stored: [],
    unsure: [],
  }
  const kept = Array.from({ length: KEPT_COUNT }, (_, first) => read(options, state, first, true))
  const anew = Array.from({ length: ANEW_COUNT }, (_, first) => read(options, state, first, false))
  const loops = [...kept, ...anew, readLong(options, state), store(options, state)]
  return async () => {
    state.isOver = true
    await Promise.all(loops)
    return state
  }
}

/** Clients that keep their connection, and clients that connect for each request. */
const KEPT_COUNT = 5
const ANEW_COUNT = 2

type State = { -readonly [key in keyof Tally]: Tally[key] } & {
  isOver: boolean
  faults: string[]
  stored: string[]
  unsure: (readonly [string, string])[]
}

async function read(options: FleetOptions, state: State, first: number, isKept: boolean) {
  const { reads, expected } = options
  const agent = tlsAgent(options.authority, undefined, { keepAlive: isKept, maxSockets: 1 })
  for (let i = first; !state.isOver; i++) {
    const wanted = reads[i % reads.length]
    state.requestCount++
    const { status, body, fault } = await ask(agent, options, wanted)
    if (fault !== undefined) state.faults.push(`${wanted.name}: ${fault}`)
    else if (isOverloaded(status, body)) state.refusedCount++
    else if (status !== 200) state.faults.push(`${wanted.name}: ${status} ${body}`)
    else if (!body?.equals(expected.get(wanted.name) as Buffer)) {
      state.faults.push(`${wanted.name}: another answer than expected`)
    }
    // Leaves processor time to services that start.
    await sleep(options.pauseMs)
  }
  agent.destroy()
}

async function readLong(options: FleetOptions, state: State) {
  const { longRead, expected } = options
  const agent = tlsAgent(options.authority, undefined, { keepAlive: true, maxSockets: 1 })
  while (!state.isOver) {
    state.longCount++
    const { status, body, fault } = await ask(agent, options, longRead)
    if (fault !== undefined) state.longCutCount++
    else if (isOverloaded(status, body)) state.refusedCount++
    else if (!body?.equals(expected.get(longRead.name) as Buffer)) {
      state.faults.push(`${longRead.name}: ${body?.length} bytes as if they were all`)
    }
    await sleep(options.pauseMs)
  }
  agent.destroy()
}

async function store(options: FleetOptions, state: State) {
  const agent = tlsAgent(options.authority, undefined, { keepAlive: true, maxSockets: 1 })
  while (!state.isOver) {
    const name = `fleet ${stamp++}`
    const body = JSON.stringify({ ContextName: name, Areas: [] })
    const asked = { name, path: '/api/contexts', body }
    const { status, body: answer, fault } = await ask(agent, options, asked)
    if (isOverloaded(status, answer)) state.refusedCount++
    else if (status === 200) state.stored.push(name)
    else state.unsure.push([name, fault ?? String(status)])
    await sleep(options.pauseMs)
  }
  agent.destroy()
}

let stamp = 0

/** As a service says it whose machine is busy; by nginx where the other service is dead (503, 502). */
function isOverloaded(status: number | undefined, body: Buffer | undefined): boolean {
  if (status !== 503 || body === undefined) return false
  const isRefusedBesideDead =
    body.includes('"ErrorCode":"Unavailable"') && /\bsaid 503, 50[24]\b/.test(String(body))
  return isRefusedBesideDead || body.includes('"ErrorCode":"Overloaded"')
}

async function ask(
  agent: Agent,
  { url, headers }: FleetOptions,
  { path, body }: Read,
): Promise<{ status?: number; body?: Buffer; fault?: string }> {
  const sent = { headers: { ...headers, 'Content-Type': 'application/json' } }
  try {
    return await callTls(agent, url + path, body === undefined ? sent : { ...sent, body })
  } catch (fault) {
    return { fault: (fault as Error).message }
  }
}
