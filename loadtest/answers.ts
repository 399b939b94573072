/**
 * What the service answers when nothing else goes on: asked once for each shape, compared with
 * brute force, and kept, so that every answer under load can be compared with it byte by byte.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Geometry, Polygon } from 'geojson'
import { checkCounties, type Rows, type SourceRecord } from '../test/oracle/counties.js'

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

export async function askAll(
  url: string,
  shapes: readonly Polygon[],
  countsOnly: boolean,
  signal: AbortSignal,
): Promise<KnownRequest[]> {
  const requests: KnownRequest[] = []
  for (const shape of shapes) {
    signal.throwIfAborted()
    const body = requestBody(shape, countsOnly)
    requests.push({ body, answer: await ask(url, body) })
  }
  return requests
}

/**
 * Compares counts and lists of the shapes with a brute-force search of what was imported.
 *
 * @throws when any of them differs
 */
export async function verifyAnswers(
  rows: Rows,
  shapes: readonly Polygon[],
  counts: readonly KnownRequest[],
  lists: readonly KnownRequest[],
): Promise<void> {
  const known = new Map<string, string>()
  for (const { body, answer } of [...counts, ...lists]) known.set(body, answer)
  const { mismatches } = await checkCounties({
    rows,
    ask: async (_, countsOnly, { id }) => {
      const answer = known.get(requestBody(shapes[Number(id)], countsOnly))
      if (answer === undefined) throw new Error(`shape ${id} was not asked`)
      return { records: recordsOf(answer) }
    },
    counties: shapes.map((geometry, at) => ({ id: String(at), name: 'a drawn polygon', geometry })),
    list: true,
  })
  if (mismatches.length === 0) return
  const [{ county, reason }] = mismatches
  throw new Error(`${mismatches.length} wrong answers; the first, to shape ${county.id}: ${reason}`)
}

const READY_MS = 60_000
const ANSWER_MS = 10_000

function requestBody(geometry: Geometry, countsOnly: boolean): string {
  const features = [{ type: 'Feature', geometry, properties: {} }]
  return JSON.stringify({ countsOnly, geoJSON: { type: 'FeatureCollection', features } })
}

async function ask(url: string, body: string): Promise<string> {
  const response = await fetch(`${url}/api/recipients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  if (response.ok) return response.text()
  throw new Error(`the service answered ${response.status}: ${await response.text()}`)
}

function recordsOf(answer: string): readonly SourceRecord[] {
  return (JSON.parse(answer) as { SourceRecords?: SourceRecord[] }).SourceRecords ?? []
}
