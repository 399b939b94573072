/**
 * Two services on one data directory behind nginx and HAProxy, with the files of data/system/proxy, while
 * clients ask over TLS all the time: a service that is not ready, a switch between the two, rolling restarts,
 * and services that are killed. No client may see an error.
 *
 * @module
 */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAuthority } from '../support/service/certificates.js'
import { freePort } from '../support/service/free-port.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { type Color, proxies, type RunningProxy } from '../support/service/proxies.js'
import { ADMIN, scrape, sumOf } from '../support/service/scraped.js'
import { byTier } from '../support/tier.js'
import { type FleetOptions, type Read, startFleet, type Tally } from './fleet-clients.js'

const KILL_COUNT = byTier({ ci: 1, soak: 10 })
const PAUSE_MS = byTier({ ci: 200, soak: 10 })

const directory = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const certificate = authority.issue('proxy')
const ports = { blue: await freePort(), green: await freePort() }
const data = temporaryDirectory(t)
const services = new Map<Color, Service>()
const start = async (color: Color, ...args: string[]) => {
  const own = ['--port', String(ports[color]), '--data', data, '--keys', ...ADMIN]
  services.set(color, await serve(t, ...own, ...args))
}

await start('blue', '--sample')
const made = ['--data', data, '--name', 'fleet', '--scopes', 'admin']
const key = (await hickory('keys', 'create', ...made)).stdout.trim()
const headers = { Authorization: `Bearer ${key}` }

const CONTEXT = '/api/contexts/4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const reads: readonly Read[] = [
  recipients('count', { countsOnly: true, geoJSON: square(0.3) }),
  recipients('count of many positions', { countsOnly: true, geoJSON: ring(1_500) }),
  recipients('list', { geoJSON: square(0.03) }),
  { name: 'outline', path: '/api/outline', body: JSON.stringify({ geoJSON: square(0.1) }) },
  { name: 'context', path: CONTEXT },
]
const longRead = recipients('long list', { geoJSON: square(20) })
const expected = new Map<string, Buffer>()
for (const { name, path, body } of [...reads, longRead]) {
  const sent = { headers: { ...headers, 'Content-Type': 'application/json' } }
  const url = `http://127.0.0.1:${ports.blue}${path}`
  const answer = await fetch(url, body === undefined ? sent : { ...sent, method: 'POST', body })
  if (answer.status !== 200) throw new Error(`${name} was answered ${answer.status}`)
  expected.set(name, Buffer.from(await answer.arrayBuffer()))
}
const lengthOf = (name: string) => expected.get(name)?.length ?? 0
t.test('there is a list of one piece, and one of many', async (t) => {
  t.comment(`${lengthOf('list')} and ${lengthOf('long list')} bytes`)
  t.ok(lengthOf('list') > 5_000 && lengthOf('list') < 100_000)
  t.ok(lengthOf('long list') > 1_000_000)
})

for (const [name, startProxy] of Object.entries(proxies)) {
  t.test(`behind ${name}`, async (t) => {
    const proxy = await startProxy(t, { ports, certificate })
    const url = `https://localhost:${proxy.port}`
    const asked = { headers, reads, longRead, expected, pauseMs: PAUSE_MS }
    const fleet: FleetOptions = { url, authority, ...asked }
    const during = async (t: Test, scenario: string, run: () => Promise<void>): Promise<Tally> => {
      const end = startFleet(fleet)
      let tally: Tally
      try {
        await sleep(300)
        await run()
        await sleep(300)
      } finally {
        tally = await end()
      }
      const { requestCount, refusedCount, faults, longCount, longCutCount, stored, unsure } = tally
      t.comment(
        `${name}, ${scenario}: ${requestCount} requests, ${faults.length} errors, ${refusedCount} refused; ` +
          `${longCount} long lists, ${longCutCount} cut; ` +
          `${stored.length + unsure.length} changes, ${unsure.length} not acknowledged ` +
          `${JSON.stringify([...new Set(unsure.map(([, why]) => why))])}`,
      )
      t.ok(requestCount > 20)
      t.same([...new Set(faults)], [])
      await checkStored(t, tally)
      return tally
    }

    await t.test('a service that is not ready answers nobody', async (t) => {
      await unready(t, proxy, name === 'HAProxy', (run) => during(t, 'one is not ready', run))
    })

    await start('green')
    await proxy.until('green', 'ready')

    await t.test('a switch to green, a new blue, and a switch back', async (t) => {
      const { longCutCount, unsure } = await during(t, 'blue-green', async () => {
        await checkSwitch(t, proxy, 'green')
        await restart(t, 'blue')
        await proxy.until('blue', 'ready')
        await checkSwitch(t, proxy, 'blue')
        await proxy.use('both')
      })
      t.equal(longCutCount, 0)
      t.same(unsure, [])
    })

    await t.test('a rolling restart', async (t) => {
      const { longCutCount } = await during(t, 'rolling restart', async () => {
        for (const color of ['blue', 'green'] as const) {
          await restart(t, color)
          await proxy.until(color, 'ready')
        }
      })
      t.equal(longCutCount, 0)
    })

    await t.test(`${KILL_COUNT} times, one of the two is killed`, async (t) => {
      await during(t, `${KILL_COUNT} kills`, async () => {
        for (let i = 0; i < KILL_COUNT; i++) {
          const color = i % 2 === 0 ? 'blue' : 'green'
          await sleep(100 * Math.random())
          await services.get(color)?.stop('SIGKILL')
          // As long as a supervisor waits.
          await sleep(1_000)
          await start(color)
          await proxy.until(color, 'ready')
        }
      })
    })

    await services.get('green')?.stop()
  })
}

async function checkSwitch(t: Test, proxy: RunningProxy, to: Color): Promise<void> {
  const other = to === 'blue' ? 'green' : 'blue'
  await proxy.use(to)
  // A busy machine lets requests arrive late that were on their way.
  for (let look = 0, before = -1; look < 20; look++) {
    const answered = await answeredBy(other)
    if (answered === before) return
    before = answered
    await sleep(500)
  }
  t.fail(`${other} still gets requests`)
}

async function restart(t: Test, color: Color): Promise<void> {
  const { code, stderr } = await (services.get(color) as Service).stop()
  t.equal(code, 0, stderr)
  await start(color)
}

/** With something in the place of green that answers as a service does that is starting. */
async function unready(
  t: Test,
  proxy: RunningProxy,
  isAsked: boolean,
  during: (run: () => Promise<void>) => Promise<Tally>,
): Promise<void> {
  let otherCount = 0
  const starting = createServer((request, response) => {
    if (request.url !== '/readyz') otherCount++
    request.resume()
    response.writeHead(503, { 'Retry-After': '1', Connection: 'close' }).end('{}')
  })
  await new Promise<void>((resolve) => starting.listen(ports.green, '127.0.0.1', resolve))
  await proxy.until('green', 'unready')
  await proxy.use(isAsked ? 'both' : 'blue')
  otherCount = 0
  const { unsure } = await during(() => sleep(1_000))
  t.equal(otherCount, 0, 'it is asked for nothing')
  t.same(unsure, [])
  await proxy.use('both')
  if (!isAsked) {
    await during(() => sleep(1_000))
    t.ok(otherCount > 0, 'nginx cannot know it, and asks the other one when it gets 503')
  }
  starting.closeAllConnections()
  await new Promise((resolve) => starting.close(resolve))
}

/** Requests of clients; those for `/readyz` are no operation. */
async function answeredBy(color: Color): Promise<number> {
  const service = services.get(color) as Service
  return sumOf(await scrape(service), 'hickory_requests_total', { operation: 'RecipientRequest' })
}

/** What was acknowledged is there, and nothing was carried out twice. */
async function checkStored(t: Test, { stored, unsure }: Tally): Promise<void> {
  const counts = new Map<string, number>()
  const ids: string[] = []
  for (let skip = 0; ; skip += 1_000) {
    const page = await fetchHere(`/api/contexts?Skip=${skip}&Take=1000`)
    const { Results } = (await page.json()) as { Results: { Id: string; ContextName?: string }[] }
    for (const { Id, ContextName = '' } of Results) {
      if (!ContextName.startsWith('fleet ')) continue
      ids.push(Id)
      counts.set(ContextName, (counts.get(ContextName) ?? 0) + 1)
    }
    if (Results.length < 1_000) break
  }
  const others = stored.filter((name) => counts.get(name) !== 1)
  t.same(
    others.map((name) => `${name} of ${stored.at(-1)}: ${counts.get(name) ?? 0} times`),
    [],
    'what was acknowledged is there once',
  )
  t.same(
    unsure.filter(([name]) => (counts.get(name) ?? 0) > 1),
    [],
    'what was not is there once or not at all',
  )
  for (const id of ids) await fetchHere(`/api/contexts/${id}`, 'DELETE')
}

async function fetchHere(path: string, method = 'GET'): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${ports.blue}${path}`, { headers, method })
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`)
  return answer
}

function recipients(name: string, request: object): Read {
  return { name, path: '/api/recipients', body: JSON.stringify(request) }
}

/** In Houston; in degrees from its middle. */
function square(half: number) {
  return polygon([
    [-95.37 - half, 29.76 - half],
    [-95.37 + half, 29.76 - half],
    [-95.37 + half, 29.76 + half],
    [-95.37 - half, 29.76 + half],
  ])
}

/** A body of some 50 KB. */
function ring(positionCount: number) {
  return polygon(
    Array.from({ length: positionCount }, (_, i) => {
      const angle = (2 * Math.PI * i) / positionCount
      return [-95.37 + 0.3 * Math.cos(angle), 29.76 + 0.3 * Math.sin(angle)]
    }),
  )
}

function polygon(positions: readonly number[][]) {
  return { type: 'Polygon', coordinates: [positions] }
}
