/**
 * The boundaries of keys over HTTP: each key is answered for its own place, on all HTTP threads, while keys
 * change, snapshots are taken and workers die.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { importGrid } from '../support/data/grid.js'
import { squareGeometry } from '../support/data/store.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

const everywhere = { type: 'Polygon', coordinates: squareGeometry(0, 0, 10).rings }
const THREADS = ['--keys', '--http-threads', '2', '--query-threads', '4']

/** A key that is answered for a square at the corner of the grid, or for all. */
async function makeKey(t: Test, data: string, name: string, degrees?: number): Promise<string> {
  const args = ['--data', data, '--name', name, '--scopes', 'counts,lists,contexts,suppressions']
  if (degrees !== undefined) {
    const file = join(temporaryDirectory(t), 'boundary.json')
    writeFileSync(file, JSON.stringify(squareGeometry(0, 0, degrees)))
    args.push('--boundary', file)
  }
  const { code, stdout, stderr } = await hickory('keys', 'create', ...args)
  if (code !== 0) throw new Error(`keys create ended with ${code}: ${stderr}`)
  return stdout.trim()
}

interface Asked {
  readonly path?: string
  readonly method?: string
  readonly body?: object
  readonly accept?: string
}

async function ask(service: Service, key: string, asked: Asked) {
  const { path = '/api/recipients', method = 'POST', body, accept = 'application/json' } = asked
  const response = await fetch(service.url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      Accept: accept,
      Authorization: `Bearer ${key}`,
      Connection: 'close',
      'Content-Type': 'application/json',
    },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** By connections of their own, which go to the HTTP threads in turn. */
async function countsOf(service: Service, key: string, more: object = {}): Promise<unknown[]> {
  const body = { countsOnly: true, geoJSON: everywhere, ...more }
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask(service, key, { body })))
  const found = answers.map(({ status, text }) => {
    const { SourceRecords, ResponseStatus } = JSON.parse(text)
    return status === 200 ? SourceRecords[0].Count : `${status} ${ResponseStatus.ErrorCode}`
  })
  return [...new Set(found)]
}

t.test('each key is answered for its own place, in every operation', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const small = await makeKey(t, data, 'small', 2)
  const large = await makeKey(t, data, 'large', 5)
  const all = await makeKey(t, data, 'all')
  const service = await serve(t, '--data', data, ...THREADS)
  const keys = [
    [small, 400],
    [large, 2_500],
    [all, 10_000],
  ] as const
  const context = await ask(service, all, {
    path: '/api/contexts',
    body: { ContextName: 'all', Areas: [{ Id: 'a', Geometry: squareGeometry(0, 0, 10) }] },
  })
  const { Id } = JSON.parse(context.text)
  for (const [key, count] of keys) {
    t.same(await countsOf(service, key), [count])
    t.same(await countsOf(service, key, { clipToBoundary: false }), [count])
    t.same(await countsOf(service, key, { distinct: true, contactCountMode: 'Contact' }), [count])
    for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
      const { text } = await ask(service, key, { body: { geoJSON: everywhere }, accept })
      t.equal(text.match(/\+999\d{7}/g)?.length, count, accept)
    }
    const { text: area } = await ask(service, key, { path: `/api/contexts/${Id}`, method: 'GET' })
    t.equal(JSON.parse(area).Areas[0].ContactTotalCount, count)
    const { text: outline } = await ask(service, key, {
      path: '/api/outline',
      body: { geoJSON: everywhere },
    })
    const side = Math.sqrt(count) / 10
    const [[ring]] = [JSON.parse(outline).Outlines[0].Rings.rings]
    t.equal(Math.max(...ring.flat()), side)
  }

  // The corner that is farthest away from everybody within.
  const far = { type: 'Feature', geometry: { type: 'Point', coordinates: [10, 10] } }
  const nearest = { geoJSON: { ...far, properties: { nearest: 3 } } }
  const found = JSON.parse((await ask(service, small, { body: nearest })).text)
  for (const { LatLng } of found.SourceRecords[0].Recipients) {
    t.ok(LatLng.Lat < 2 && LatLng.Lng < 2, 'the nearest are within')
  }

  const beyond = squareGeometry(7, 7, 1)
  const hidden = await ask(service, small, { body: { geoJSON: beyond, countsOnly: true } })
  t.match(JSON.parse(hidden.text), {
    SourceRecords: [{ Count: 0 }],
    Warnings: [{ Code: 'OutsideBoundary' }],
  })
  const page = await ask(service, small, { body: { geoJSON: everywhere, limit: 300 } })
  const after = page.headers.get('x-next-after')
  const rest = await ask(service, small, { body: { geoJSON: everywhere, after } })
  t.equal(rest.text.match(/\+999\d{7}/g)?.length, 100)
  const stolen = await ask(service, large, { body: { geoJSON: everywhere, after } })
  t.match(JSON.parse(stolen.text).ResponseStatus.ErrorCode, /CursorExpired|InvalidRequest/)

  // The last of the grid is beyond the small boundary.
  const Numbers = ['+9990009999']
  const put = (key: string) =>
    ask(service, key, { path: '/api/suppressions', method: 'PUT', body: { Numbers } })
  t.notOk('RecipientCount' in JSON.parse((await put(small)).text))
  t.match(JSON.parse((await put(all)).text), { PresentCount: 1, RecipientCount: 1 })
  t.equal((await service.stop()).code, 0)
})

t.test('a key that is made again with another boundary is answered by that', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const first = await makeKey(t, data, 'desk', 2)
  const service = await serve(t, '--data', data, ...THREADS, '--crash-query-worker-ms', '400')
  const settled = async (key: string, more: object = {}) => {
    for (;;) {
      const counts = await countsOf(service, key, more)
      if (!counts.some((each) => String(each).startsWith('503'))) return counts
      await sleep(20)
    }
  }
  t.same(await settled(first), [400])
  t.equal((await hickory('keys', 'revoke', 'desk', '--data', data)).code, 0)
  t.match(await countsOf(service, first), [/^401 /])
  const second = await makeKey(t, data, 'desk', 4)
  const other = await makeKey(t, data, 'other', 1)
  t.same(await settled(second), [1_600])
  t.same(await settled(other), [100])
  t.match(await countsOf(service, first), [/^401 /])

  // The north has gone, and with it half of whoever was within.
  await importGrid(t, data, 20)
  const deadlineMs = Date.now() + 30_000
  while (Date.now() < deadlineMs && (await settled(second)).join() !== '800') await sleep(50)
  t.same(await settled(second), [800])
  t.same(await settled(other), [100])
  t.equal((await service.stop()).code, 0)
})

t.test('the boundary of the service and that of a key both hold', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const desk = await makeKey(t, data, 'desk', 5)
  const before = await serve(t, '--data', data)
    .then((open) => open)
    .catch((fault: Error) => fault)
  t.match((before as Error).message, /--keys/, 'keys are never passed over')
  const service = await serve(t, '--data', data, ...THREADS, '--clip-recipients-to-boundary')
  const { code, stdout } = await hickory(
    ...['keys', 'create', '--data', data, '--name', 'office', '--scopes', 'config,counts'],
  )
  t.equal(code, 0)
  const office = stdout.trim()
  const configure = (boundary: object | undefined) =>
    ask(service, office, {
      path: '/api/configuration',
      body: { ...(boundary && { CustomerBoundaryGeometry: boundary }) },
    })
  t.equal((await configure(squareGeometry(3, 0, 7))).status, 200)
  t.same(await countsOf(service, desk), [20 * 50])
  t.same(await countsOf(service, office), [70 * 70])
  await configure(squareGeometry(6, 6, 4))
  t.same(await countsOf(service, desk), [0])
  await configure(undefined)
  t.same(await countsOf(service, desk), ['503 BoundaryMissing'])
  t.equal((await service.stop()).code, 0)
})
