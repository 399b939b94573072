/**
 * What a server answers when nothing else goes on: asked once for each request, compared with brute
 * force, and kept, so that every answer under load can be compared with it byte by byte.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { requestBody, type Selection } from '../requests/requests.js'
import { readAnswer, sameRows } from './answer-rows.js'
import type { Oracle } from './oracle.js'

/** A request and the one right answer to it. */
export interface KnownRequest {
  readonly body: string
  readonly answer: string
}

export async function waitUntilReady(url: string, signal: AbortSignal): Promise<void> {
  const startedMs = performance.now()
  while (!(await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) })).ok) {
    if (performance.now() - startedMs > READY_MS) throw new Error(`${url} does not become ready`)
    await sleep(100, undefined, { signal })
  }
}

/** @param path  decides the form of the answer; JSON unless given */
export async function ask(url: string, body: string, path = '/api/recipients'): Promise<string> {
  const response = await fetch(url + path, {
    method: 'POST',
    // It asks for compressed answers by itself.
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body,
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  if (response.ok) return response.text()
  throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
}

export async function askAll(
  url: string,
  selections: readonly Selection[],
  signal: AbortSignal,
): Promise<KnownRequest[]> {
  const requests: KnownRequest[] = []
  for (const selection of selections) {
    signal.throwIfAborted()
    const body = requestBody(selection)
    requests.push({ body, answer: await ask(url, body) })
  }
  return requests
}

/**
 * Compares answers with a brute-force search of what was imported.
 *
 * @throws when any of them differs
 */
export function verifyAnswers(
  oracle: Oracle,
  selections: readonly Selection[],
  requests: readonly KnownRequest[],
): void {
  for (const [at, selection] of selections.entries()) {
    const fault = oracle.faultOf(selection, requests[at].answer)
    if (fault !== undefined) throw new Error(`a wrong answer, to request ${at}: ${fault}`)
  }
}

/**
 * Asks another server the same, whose answers must hold the same recipients in whatever order.
 *
 * @throws when any of them differs
 */
export async function verifyPeer(
  url: string,
  requests: readonly KnownRequest[],
  signal: AbortSignal,
): Promise<void> {
  for (const [at, { body, answer }] of requests.entries()) {
    signal.throwIfAborted()
    if (sameRows(readAnswer(await ask(url, body)), readAnswer(answer))) continue
    throw new Error(`${url} answers request ${at} otherwise than the service`)
  }
}

const READY_MS = 60_000
const ANSWER_MS = 60_000
