/**
 * The boundary over HTTP: for requests that ask for it and for services that always have it, while the
 * configuration changes, workers die and snapshots are taken, on all HTTP threads.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { importGrid } from '../support/data/grid.js'
import { squareGeometry } from '../support/data/store.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

const everywhere = { type: 'Polygon', coordinates: squareGeometry(0, 0, 10).rings }
const TWO_THREADS = ['--http-threads', '2', '--query-threads', '4']

/** How many are within a square at the corner of the grid. */
const within = (degrees: number) => (10 * degrees) ** 2

async function post(service: Service, path: string, body: object, accept = 'application/json') {
  const response = await fetch(service.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { Accept: accept, Connection: 'close' },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const configure = (service: Service, degrees: number | undefined) =>
  post(service, '/api/configuration', {
    ...(degrees !== undefined && { CustomerBoundaryGeometry: squareGeometry(0, 0, degrees) }),
  })

/** Connections of their own, which go to the HTTP threads in turn. */
async function countsOf(service: Service, more: object = {}): Promise<unknown[]> {
  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      post(service, '/api/recipients', { countsOnly: true, geoJSON: everywhere, ...more }),
    ),
  )
  const found = answers.map(({ status, text }) => {
    const { SourceRecords, ResponseStatus } = JSON.parse(text)
    return status === 200 ? SourceRecords[0].Count : `${status} ${ResponseStatus.ErrorCode}`
  })
  return [...new Set(found)]
}

t.test('the boundary holds where it is asked for, in every format', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const service = await serve(t, '--data', data, ...TWO_THREADS)
  await configure(service, 2)
  t.same(await countsOf(service), [10_000])
  t.same(await countsOf(service, { clipToBoundary: true }), [400])
  t.same(await countsOf(service, { clipToBoundary: false }), [10_000])
  t.same(await countsOf(service, { CLIPTOBOUNDARY: 'true', distinct: true }), [400])
  t.same(await countsOf(service, { clipToBoundary: true, contactCountMode: 'Contact' }), [400])

  const list = { geoJSON: everywhere, clipToBoundary: true }
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
    const { text } = await post(service, '/api/recipients', list, accept)
    t.equal(text.match(/\+999\d{7}/g)?.length, 400, accept)
  }
  const { headers } = await post(service, '/api/recipients', { ...list, limit: 300 })
  const after = headers.get('x-next-after')
  const { text } = await post(service, '/api/recipients', { ...list, after })
  t.equal(text.match(/\+999\d{7}/g)?.length, 100)
  const batch = [
    { ...list, countsOnly: true },
    { geoJSON: everywhere, countsOnly: true },
  ]
  const answered = await post(service, '/json/reply/RecipientRequest[]', batch)
  t.match(JSON.parse(answered.text), [
    { SourceRecords: [{ Count: 400 }] },
    { SourceRecords: [{ Count: 10_000 }] },
  ])

  await configure(service, 3)
  t.same(await countsOf(service, { clipToBoundary: true }), [900])
  const expired = await post(service, '/api/recipients', { ...list, after })
  t.equal(expired.status, 410)
  await configure(service, undefined)
  t.same(await countsOf(service, { clipToBoundary: true }), ['400 InvalidRequest'])
  t.same(await countsOf(service), [10_000])
  t.equal((await service.stop()).code, 0)
})

t.test('a service that always has it never answers without it', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  // The built-in configuration has a boundary.
  const before = await serve(t, '--data', data)
  await configure(before, undefined)
  await before.stop()
  const service = await serve(t, '--data', data, ...TWO_THREADS, '--clip-recipients-to-boundary')
  const ready = async () => (await fetch(`${service.url}/readyz`)).json()
  t.match(await ready(), { status: 'ready', boundaryFault: /^no customer boundary is configured/ })
  t.match(service.output().stderr, /"msg":"the boundary cannot be applied"/)
  const refused = ['503 BoundaryMissing']
  for (const clipToBoundary of [undefined, false, true]) {
    t.same(await countsOf(service, { clipToBoundary }), refused)
  }
  t.equal((await post(service, '/api/outline', { geoJSON: everywhere })).status, 503)

  const area = { Id: 'a', Geometry: squareGeometry(0, 0, 10) }
  const stored = await post(service, '/api/contexts', { ContextName: 'all', Areas: [area] })
  const { Id } = JSON.parse(stored.text)
  const areaOf = async () => {
    for (;;) {
      const { Areas } = JSON.parse(await (await fetch(`${service.url}/api/contexts/${Id}`)).text())
      if (!Areas[0].IsUpdatingContactList) return Areas[0]
      await sleep(20)
    }
  }
  t.match(await areaOf(), { HasContactCountError: true, ContactTotalCount: undefined })

  for (const degrees of [4, 1, 10, 5]) {
    await configure(service, degrees)
    for (const clipToBoundary of [undefined, false, true]) {
      t.same(await countsOf(service, { clipToBoundary }), [within(degrees)])
    }
    t.match(await areaOf(), { HasContactCountError: false, ContactTotalCount: within(degrees) })
  }
  t.notOk('boundaryFault' in ((await ready()) as object))
  const outline = await post(service, '/api/outline', {
    geoJSON: everywhere,
    clipToBoundary: false,
  })
  t.match(JSON.parse(outline.text).Outlines[0].Rings.rings, [{ length: 5 }])
  t.notMatch(outline.text, /\b10\b/, 'nothing of the outline is beyond')

  // The north half has gone.
  await importGrid(t, data, 30)
  while ((await countsOf(service)).join() !== String(30 * 50)) await sleep(50)
  t.same(await countsOf(service), [30 * 50])
  await configure(service, undefined)
  t.same(await countsOf(service), refused)
  t.equal((await service.stop()).code, 0)
})

t.test('a worker that takes the place of a dead one knows the boundary', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const service = await serve(
    t,
    ...['--data', data, ...TWO_THREADS, '--crash-query-worker-ms', '150'],
    '--clip-recipients-to-boundary',
  )
  const seen = new Set<unknown>()
  for (let round = 0; round < 60; round++) {
    const degrees = 1 + (round % 4)
    if (round % 5 === 0) await configure(service, degrees)
    for (const count of await countsOf(service)) seen.add(count)
    await sleep(30)
  }
  const allowed = [1, 2, 3, 4].map(within)
  const wrong = [...seen].filter(
    (each) => !String(each).startsWith('503') && !allowed.includes(Number(each)),
  )
  t.same(wrong, [])
  t.ok(seen.size >= 4)
})
