/**
 * Three machines of a cluster behind HAProxy, with the file of data/system/proxy: requests go to machines that are ready,
 * and to those that live where none is.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { type Ask, checkWire } from '../contract/wire-rows.js'
import { serveWireWorld } from '../contract/wire-world.js'
import { type Answer, request } from '../http/wire.js'
import { placesWorld } from '../support/data/suppressions.js'
import { createAuthority } from '../support/service/certificates.js'
import { hickory, type Service, temporaryDirectory } from '../support/service/hickory.js'
import { ADMIN, scrape, sumOf } from '../support/service/scraped.js'
import { untilTold } from '../support/service/until.js'
import { SITES, type Site, startClusterProxy } from './support/cluster-proxy.js'
import { readinessOf, serveMachine } from './support/machines.js'
import { startNatsServer } from './support/nats-servers.js'

const authority = createAuthority(temporaryDirectory(t), 'authority')
const certificate = authority.issue('proxy')
const ca = readFileSync(authority.certificate)

/** As a client of the proxy, which verifies it. */
const askAt =
  (port: number, ...own: readonly string[]): Ask =>
  (line, { headers, ...sent }) =>
    request(connect({ port, host: '127.0.0.1', ca, servername: 'localhost' }), line, {
      headers: [...headers, ...own],
      ...sent,
    })

const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)

t.test('every statement of the wire holds behind it', async (t) => {
  const service = await serveWireWorld(t)
  const port = portOf(service)
  const ports = { 'site-a': port, 'site-b': port, 'site-c': port }
  const proxy = await startClusterProxy(t, { ports, certificate })
  await checkWire(t, askAt(proxy.port))
})

t.test('three machines', async (t) => {
  const nats = await startNatsServer(t)
  const firstData = await placesWorld(t)
  const made = ['--data', firstData, '--name', 'chief', '--scopes', 'admin']
  const key = (await hickory('keys', 'create', ...made)).stdout.trim()
  const reach = [...nats.reach, '--max-lag', '15']
  const start = (name: Site, data = temporaryDirectory(t)) =>
    serveMachine(t, { name, data, reach }, '--keys', ...ADMIN)
  const first = await start('site-a', firstData)
  const [second, third] = await Promise.all([start('site-b'), start('site-c')])
  const machines: Readonly<Record<Site, Service>> = {
    'site-a': first,
    'site-b': second,
    'site-c': third,
  }
  const ports = {
    'site-a': portOf(first),
    'site-b': portOf(second),
    'site-c': portOf(third),
  }
  const proxy = await startClusterProxy(t, { ports, certificate })
  const refusing = await startClusterProxy(t, { ports, certificate, asksLate: false })
  for (const site of SITES) {
    await proxy.until(site, 'ready')
    await refusing.until(site, 'ready')
  }
  const bearer = `Authorization: Bearer ${key}`
  const ask = askAt(proxy.port, bearer)
  const askRefusing = askAt(refusing.port, bearer)

  await t.test('all of them answer, and a change by any is seen at once on each', async (t) => {
    const before = await answeredCounts(machines)
    await countTimes(t, ask, 12)
    const after = await answeredCounts(machines)
    for (const site of SITES) t.ok(after[site] > before[site], site)
    const body = '{"ContextName":"behind HAProxy","Areas":[]}'
    const changed = await ask('POST /api/contexts', { headers: [JSON_BODY], body })
    t.equal(changed.status, 200, String(changed.body))
    const { Id } = JSON.parse(String(changed.body)) as { Id: string }
    for (const site of SITES) {
      const headers = { Authorization: `Bearer ${key}`, connection: 'close' }
      const found = await fetch(`${machines[site].url}/api/contexts/${Id}`, { headers })
      t.equal(found.status, 200, site)
    }
  })

  await t.test('an audience is the same at each of them', async (t) => {
    const body = '{"geoJSON":{"xmin":-180,"ymin":-90,"xmax":180,"ymax":90}}'
    const frozen = await ask('POST /api/audiences', { headers: [JSON_BODY], body })
    t.equal(frozen.status, 200, String(frozen.body))
    const { Id } = JSON.parse(String(frozen.body)) as { Id: string }
    const bodies = new Set<string>()
    for (let i = 0; i < 6; i++) {
      const page = await ask(`GET /api/audiences/${Id}?limit=7`, { headers: [] })
      t.equal(page.status, 200, String(page.body))
      bodies.add(String(page.body))
    }
    t.equal(bodies.size, 1)
    t.match(String((await ask('GET /json/reply/GetAudiencesRequest', { headers: [] })).body), Id)
    t.equal((await ask(`DELETE /api/audiences/${Id}`, { headers: [] })).status, 204)
    for (let i = 0; i < 6; i++) {
      t.equal((await ask(`GET /api/audiences/${Id}?limit=7`, { headers: [] })).status, 404)
    }
  })

  await t.test('a machine that is drained gets none', async (t) => {
    const command = ['cluster', 'drain', 'site-b', '--cluster', nats.url]
    t.equal((await hickory(...command)).code, 0)
    await proxy.until('site-b', 'unready')
    const before = await answeredCounts(machines)
    await countTimes(t, ask, 12)
    const after = await answeredCounts(machines)
    t.equal(after['site-b'], before['site-b'])
    for (const site of ['site-a', 'site-c'] as const) t.ok(after[site] > before[site], site)
    t.equal((await hickory(...command, '--undo')).code, 0)
    await proxy.until('site-b', 'ready')
  })

  await t.test('a machine that dies costs no read', async (t) => {
    await third.stop('SIGKILL')
    await countTimes(t, ask, 12)
    await proxy.until('site-c', 'unready')
    const body = '{"ContextName":"of two","Areas":[]}'
    const changed = await ask('POST /api/contexts', { headers: [JSON_BODY], body })
    t.equal(changed.status, 200, String(changed.body))
  })

  await t.test(
    'where none is ready, those that live answer, and say that it is late',
    async (t) => {
      await nats.stop()
      for (const site of ['site-a', 'site-b'] as const) {
        await proxy.until(site, 'unready')
        await refusing.until(site, 'unready')
        t.match(await readinessOf(machines[site]), 'lagging')
      }
      for (const { status, body } of await countTimes(t, ask, 4)) {
        t.equal(status, 200)
        t.match(String(body), '"Lagging"')
      }
      const refused = await askRefusing(...COUNT)
      t.equal(refused.status, 503, 'unless the lines for it are removed')
      t.notMatch(String(refused.body), 'Lagging', 'nobody of ours answers')
    },
  )

  await t.test('when NATS is back, they are ready again', async (t) => {
    await nats.start()
    for (const site of ['site-a', 'site-b'] as const) await proxy.until(site, 'ready')
    // Whoever was asked before it was ready may still answer.
    await untilTold(async () => !String((await ask(...COUNT)).body).includes('Lagging'))
    for (const { body } of await countTimes(t, ask, 4)) t.notMatch(String(body), 'Lagging')
  })
})

const JSON_BODY = 'Content-Type: application/json'

const COUNT: Parameters<Ask> = [
  'POST /api/recipients',
  {
    headers: [JSON_BODY],
    body: '{"countsOnly":true,"geoJSON":{"type":"Feature","properties":{"radius":1000},"geometry":{"type":"Point","coordinates":[0.1,0.1]}}}',
  },
]

/** One after the other, each on a connection of its own. */
async function countTimes(t: Test, ask: Ask, count: number): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let i = 0; i < count; i++) answers.push(await ask(...COUNT))
  t.same([...new Set(answers.map(({ status }) => status))], [200])
  return answers
}

/** How many recipient requests each machine has answered. */
async function answeredCounts(
  machines: Readonly<Record<Site, Service>>,
): Promise<Record<Site, number>> {
  // Longer than a scrape is given to others.
  await new Promise((resolve) => setTimeout(resolve, 300))
  const counted = await Promise.all(
    SITES.map(async (site) => {
      const samples = await scrape(machines[site])
      return [site, sumOf(samples, 'hickory_requests_total', OPERATION)] as const
    }),
  )
  return Object.fromEntries(counted) as Record<Site, number>
}

const OPERATION = { operation: 'RecipientRequest' }
