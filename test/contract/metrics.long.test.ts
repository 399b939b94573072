/**
 * One scrape of a service of several threads adds up to what its clients have sent and got, to the last
 * byte.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { ADMIN, scrape, sumOf, untilSame } from '../support/service/scraped.js'

const box = (lng: number, lat: number, size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [lng, lat],
      [lng + size, lat],
      [lng + size, lat + size],
      [lng, lat + size],
      [lng, lat],
    ],
  ],
})

/** What clients have seen. */
interface Seen {
  readonly statuses: Record<string, number>
  readonly codes: Record<string, number>
  bytesIn: number
  bytesOut: number
  rows: number
}

t.test('requests, refusals, rows and bytes are counted exactly', async (t) => {
  const service = await serve(
    t,
    ...['--sample', '--data', temporaryDirectory(t)],
    ...['--http-threads', '3', '--query-threads', '6', ...ADMIN],
  )
  const seen: Seen = { statuses: {}, codes: {}, bytesIn: 0, bytesOut: 0, rows: 0 }
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  async function ask(operation: string, path: string, body?: string): Promise<void> {
    const answer = await fetch(`${service.url}${path}`, {
      // Each on a connection of its own, so that all threads get some.
      headers: { Connection: 'close', 'Accept-Encoding': 'identity' },
      ...(body !== undefined && { method: 'POST', body }),
    })
    const text = await answer.text()
    count(seen.statuses, `${operation} ${answer.status}`)
    seen.bytesIn += Buffer.byteLength(body ?? '')
    seen.bytesOut += Buffer.byteLength(text)
    if (path.endsWith('ndjson')) seen.rows += text.split('\n').length - 1
    if (answer.status >= 400) count(seen.codes, JSON.parse(text).ResponseStatus.ErrorCode)
  }
  const asked: (() => Promise<void>)[] = []
  for (let i = 0; i < 40; i++) {
    const geoJSON = box(-96 + i / 100, 29, 0.3 + i / 50)
    const counts = JSON.stringify({ countsOnly: true, geoJSON })
    asked.push(() => ask('RecipientRequest', '/api/recipients', counts))
    const list = JSON.stringify({ geoJSON: box(-96, 29, i % 5 === 0 ? 8 : 0.5) })
    asked.push(() => ask('RecipientRequest', '/api/recipients?format=ndjson', list))
    asked.push(() => ask('OutlineRequest', '/api/outline', JSON.stringify({ geoJSON })))
    asked.push(() => ask('GetSourcesRequest', '/api/sources'))
    asked.push(() => ask('RecipientRequest', '/api/recipients', '{"geoJSON": 1}'))
    asked.push(() => ask('RecipientRequest', '/api/recipients', '{'))
    asked.push(() => ask('other', '/livez'))
    asked.push(() => ask('other', `/nothing/+99912345${i}`))
  }
  const before = await scrape(service)
  // Eight at a time.
  const next = asked[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const each of next) await each()
    }),
  )
  t.ok(seen.rows > 20_000, 'lists that are longer than a piece are among them')

  const after = await untilSame(service, 'hickory_open_requests', 0)
  const grown = (name: string, labels: Record<string, string> = {}) =>
    sumOf(after, name, labels) - sumOf(before, name, labels)
  for (const [key, number] of Object.entries(seen.statuses)) {
    const [operation, status] = key.split(' ')
    t.equal(grown('hickory_requests_total', { operation, status }), number, key)
  }
  t.equal(grown('hickory_requests_total'), asked.length, 'and nothing else')
  for (const [code, number] of Object.entries(seen.codes)) {
    t.equal(grown('hickory_refusals_total', { code }), number, code)
  }
  const refusedCount = Object.values(seen.codes).reduce((sum, number) => sum + number, 0)
  t.equal(grown('hickory_refusals_total'), refusedCount)
  t.ok(refusedCount >= 120, 'bad requests and unknown paths')
  t.equal(grown('hickory_recipient_rows_total'), seen.rows)
  t.equal(grown('hickory_request_body_bytes_total'), seen.bytesIn)
  t.equal(grown('hickory_answer_body_bytes_total'), seen.bytesOut)
  for (const stage of ['receive', 'parse', 'wait', 'select', 'write', 'total']) {
    t.equal(grown('hickory_request_stage_seconds_count', { stage }), asked.length, stage)
    const infinite = { stage, le: '+Inf' }
    t.equal(grown('hickory_request_stage_seconds_bucket', infinite), asked.length, stage)
  }
  t.equal(grown('hickory_answer_seconds_count'), asked.length)
  // The service itself still looks ahead who is in named areas.
  await untilSame(service, 'hickory_tasks_open', 0)
  await untilSame(service, 'hickory_tasks_waiting', 0)
  t.equal(grown('hickory_outlines_total', { outcome: 'done' }), seen.statuses['OutlineRequest 200'])
  t.equal(sumOf(after, 'hickory_query_workers'), 6)
  const workers = after.filter(({ name }) => name === 'hickory_query_worker_tasks_total')
  t.equal(workers.length, 6, 'each of them has done something, if only to be warmed')
  t.match(
    after.filter(({ name }) => name === 'hickory_source_recipients').map(({ value }) => value),
    [120_000, 60_000, 20_000],
  )
  const text = after.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`).join('\n')
  t.notMatch(text, /999|nothing/, 'no path and no number is in a label')
})

t.test('a client that leaves and one that is too slow are no whole answers', async (t) => {
  const service = await serve(t, '--sample', '--data', temporaryDirectory(t), ...ADMIN)
  const leaving = new AbortController()
  const answer = await fetch(`${service.url}/api/recipients?format=ndjson`, {
    method: 'POST',
    body: JSON.stringify({ geoJSON: box(-180, -90, 180) }),
    signal: leaving.signal,
  })
  await answer.body?.getReader().read()
  leaving.abort()
  const after = await untilSame(service, 'hickory_clients_left_total', 1)
  const rows = sumOf(after, 'hickory_recipient_rows_total')
  t.ok(rows > 0 && rows < 200_000, 'a part of the rows was written')
  t.equal(sumOf(after, 'hickory_answers_cut_total'), 0)
})

t.test('a worker that dies is counted, and its page is used again', async (t) => {
  const service = await serve(
    t,
    ...['--sample', '--data', temporaryDirectory(t), '--crash-query-worker-ms', '300', ...ADMIN],
  )
  let deaths = 0
  while (deaths < 8) {
    const samples = await scrape(service)
    deaths = sumOf(samples, 'hickory_query_worker_deaths_total')
    const places = samples.filter(({ name }) => name === 'hickory_query_worker_tasks_total')
    t.ok(places.length <= 2 * 2 + 1, 'there are as many places as at first')
  }
})

t.test('switches are counted, and what two snapshots had together is told apart', async (t) => {
  const data = temporaryDirectory(t)
  const service = await serve(t, '--sample', '--data', data, ...ADMIN)
  const [before] = [await scrape(service)]
  t.equal(sumOf(before, 'hickory_query_workers'), 2)
  const { code } = await hickory('remove', '--data', data, '--source', '3')
  t.equal(code, 0)
  await untilSame(service, 'hickory_snapshot_switches_total', 1)
  // The old workers end when the last request to the old snapshot has.
  const after = await untilSame(service, 'hickory_query_workers', 2)
  t.equal(sumOf(after, 'hickory_snapshot_switches_total', { result: 'done' }), 1)
  t.equal(sumOf(after, 'hickory_snapshots_noticed_total'), 1)
  t.equal(sumOf(after, 'hickory_source_recipients', { source: '3' }), 0)
  t.equal(sumOf(after, 'hickory_source_recipients', { source: '1' }), 120_000)
  const idOf = (samples: typeof after) =>
    samples.find(({ name }) => name === 'hickory_snapshot_info')?.labels.snapshot
  t.not(idOf(after), idOf(before))
  const sources = await (await fetch(`${service.url}/api/sources`)).json()
  t.match(sources, { SnapshotId: idOf(after), Sources: [{ SourceId: 1 }, { SourceId: 2 }] })

  writeFileSync(join(data, 'CURRENT'), 'nonsense')
  const refused = await untilSame(service, 'hickory_snapshot_refused', 1)
  t.equal(sumOf(refused, 'hickory_ready'), 1, 'it goes on with what it has')
})
