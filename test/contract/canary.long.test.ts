/**
 * Canaries: recipients whose numbers and positions stand nowhere else. Everything is done with them that goes
 * well or wrong, while everything is written down that can be. Then whatever was written is searched for them:
 * output, logs, metrics, profiles, pages, errors, the audit, and files that are left.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

const CANARY_COUNT = 4_000
const phoneOf = (at: number) => `+9994471${String(at).padStart(6, '0')}`
const latOf = (at: number) => 41.2_718_281 + at / 1e4
const lngOf = (at: number) => -87.3_141_592 - at / 1e4

/** As they are written by whoever writes one: in decimals, in whole units, in text and in URLs. */
const CANARY = /9994471\d{6}|\b41\.?\d{4}281\b|\b87\.?\d{4}592\b/

const everybody = {
  type: 'Polygon',
  coordinates: [
    [
      [-89, 40],
      [-86, 40],
      [-86, 43],
      [-89, 43],
      [-89, 40],
    ],
  ],
}

interface Evidence {
  readonly name: string
  readonly text: string
}

t.test('the canaries are what is searched for', async (t) => {
  for (const at of [0, 1, 999, CANARY_COUNT - 1]) {
    for (const text of [phoneOf(at), encodeURIComponent(phoneOf(at)), phoneOf(at).slice(1)]) {
      t.match(text, CANARY)
    }
    for (const degrees of [latOf(at), lngOf(at)]) {
      t.match(degrees.toFixed(7), CANARY)
      t.match(String(Math.round(degrees * 1e7)), CANARY)
    }
  }
})

t.test('nothing that is written down has a number or a position', async (t) => {
  const directory = temporaryDirectory(t)
  const places = { data: join(directory, 'data'), temporary: join(directory, 'tmp') }
  mkdirSync(places.temporary)
  const before = { ...process.env }
  t.teardown(() => {
    process.env = before
  })
  process.env.TMPDIR = places.temporary
  process.env.HICKORY_LOG_LEVEL = 'trace'
  const audit = join(directory, 'audit')
  process.env.HICKORY_AUDIT = audit
  const evidence: Evidence[] = []

  await commands(t, directory, places.data, evidence)
  const key = (await run(['keys', 'create', '--name', 'desk', '--scopes', 'admin'], places.data))
    .stdout
  const flags = [
    ...['--data', places.data, '--keys', '--http-threads', '2', '--query-threads', '4'],
    ...['--admin-port', '0', '--access-log', join(directory, 'access.log')],
  ]
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const service = await serve(t, ...flags, '--crash-query-worker-ms', '700')
    const ask = asker(service, key.trim(), evidence)
    const adminPort = adminPortOf(service)
    await goodAndBad(ask)
    await cutShort(service, key.trim())
    await administer(adminPort, evidence)
    for (let i = 0; i < 20; i++) await ask({ body: { geoJSON: everybody } }, 'kept')
    const { stdout, stderr } = await service.stop(signal)
    evidence.push({ name: 'standard output of serve', text: stdout })
    evidence.push({ name: 'log of serve', text: stderr })
  }
  const shown = await hickory('audit', 'show', audit, '--json')
  t.equal((await hickory('audit', 'verify', audit)).code, 0)
  evidence.push({ name: 'audit show', text: shown.stdout + shown.stderr })
  t.ok(shown.stdout.split('\n').length > 20, 'the audit has lines')

  for (const path of filesBelow(directory)) {
    const name = relative(directory, path)
    if (!HOLDS_RECIPIENTS.test(name)) evidence.push({ name, text: readFileSync(path, 'latin1') })
  }
  t.ok(evidence.length > 60, `${evidence.length} texts`)
  t.ok(
    evidence.some(({ text }) => text.includes('a request is over')),
    'everything is logged',
  )
  t.ok(
    evidence.some(({ text }) => text.includes('hickory_')),
    'metrics',
  )
  for (const { name, text } of evidence) {
    const found = CANARY.exec(text)
    const near = found === null ? '' : text.slice(Math.max(0, found.index - 80), found.index + 40)
    if (found !== null) t.fail(`${name} has a canary: ${near}`)
  }
})

/** Files that exist to hold recipients: what was read, snapshots, suppression lists, and rejects. */
const HOLDS_RECIPIENTS =
  /^(in\/|rejects\.csv$|data\/store\/|data\/snapshots\/[^/]+\/(.*\.shard|repeats|manifest\.json)$)/

async function run(args: readonly string[], data: string) {
  return hickory(...args, '--data', data)
}

/** Imports that go well and wrong, and whatever else is done by commands. */
async function commands(
  t: Test,
  directory: string,
  data: string,
  evidence: Evidence[],
): Promise<void> {
  mkdirSync(join(directory, 'in'))
  const file = (name: string, lines: readonly string[]) => {
    const path = join(directory, 'in', name)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  }
  const rows = Array.from(
    { length: CANARY_COUNT },
    (_, at) => `${phoneOf(at)},${latOf(at).toFixed(7)},${lngOf(at).toFixed(7)}`,
  )
  const good = file('good.csv', ['number,lat,lng', ...rows])
  const bad = file('bad.csv', [
    'number,lat,lng',
    ...rows.slice(0, 20).map((row) => row.replace(/,/, ',x')),
    `${phoneOf(1)},${lngOf(1) * 10},${latOf(1)}`,
  ])
  const torn = file('torn.csv', ['number,lat,lng', `"${phoneOf(2)}`])
  const json = file('broken.ndjson', [`{"number":"${phoneOf(3)}","lat":${latOf(3)},"lng":`])
  const phones = file('phones.txt', [phoneOf(5), phoneOf(6)])
  const source = ['--source', '1', '--label', 'A']
  const rejects = ['--rejects', join(directory, 'rejects.csv')]
  const steps: readonly (readonly string[])[] = [
    ['import', ...source, bad],
    ['import', ...source, torn],
    ['import', ...source, json],
    ['import', ...source, ...rejects, '--max-rejected', '100%', '--json', good, bad],
    ['import', '--source', '2', '--label', 'B', good],
    ['import', '--source', '3', '--label', 'C', '--normalize', 'e164:US', good],
    ['import', ...source, '--within', '0,0,1,1', good],
    ['suppress', phones],
    ['suppress', '--source', '1', '--list'],
    ['suppress', '--source', '1', '--replace', phones],
    ['inspect'],
    ['verify'],
    ['doctor'],
    ['rollback', '--list'],
    ['nonsense', phoneOf(8)],
    ['import', ...source, '--label', 'C', join(directory, 'in', phoneOf(9))],
  ]
  let publishedCount = 0
  for (const args of steps) {
    const { code, stdout, stderr } = await run(args, data)
    if (args[0] === 'import' && code === 0) publishedCount++
    // An argument is shown to whoever typed it, and in no log.
    const isTyped = args.some((each) => CANARY.test(each))
    if (!isTyped) evidence.push({ name: args.join(' '), text: stdout + stderr })
  }
  t.ok(publishedCount >= 2, `${publishedCount} imports`)
}

interface Asked {
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks, and keeps errors as evidence; `kept` is an answer that may have recipients. */
type Ask = (asked: Asked, kind?: 'kept') => Promise<string>

function asker(service: Service, key: string, evidence: Evidence[]): Ask {
  return async ({ method = 'POST', path = '/api/recipients', body, headers = {} }, kind) => {
    const response = await fetch(service.url + path, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...headers,
      },
    })
    const text = await response.text()
    const head = JSON.stringify([...response.headers])
    const name = `${response.status} of ${method} ${path.slice(0, 60)}`
    evidence.push({ name: `headers: ${name}`, text: head })
    if (kind === undefined && !response.ok) evidence.push({ name, text })
    return text
  }
}

/** Requests of all kinds, with canaries wherever a client can put something. */
async function goodAndBad(ask: Ask): Promise<void> {
  const phone = phoneOf(11)
  const escaped = encodeURIComponent(phone)
  const place = [lngOf(11), latOf(11)]
  const kept = 'kept' as const
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson', 'text/jsv']) {
    await ask({ body: { geoJSON: everybody }, headers: { Accept: accept } }, kept)
  }
  await ask({ path: '/api/recipients.geojson', body: { geoJSON: everybody, limit: 3 } }, kept)
  await ask({ body: { geoJSON: everybody, countsOnly: true } }, kept)
  await ask({ path: '/api/outline', body: { geoJSON: everybody } }, kept)
  const context = { ContextName: phone, Areas: [{ Id: 'a', Label: phone }] }
  await ask({ path: '/api/contexts', body: context }, kept)
  await ask({ path: '/api/contexts', method: 'GET' }, kept)
  const Numbers = [phone, phoneOf(12)]
  await ask({ path: '/api/suppressions', method: 'PUT', body: { Numbers } }, kept)
  await ask({ path: `/api/suppressions?Number=${escaped}`, method: 'GET' }, kept)
  await ask({ path: '/api/suppressions', method: 'DELETE', body: { Numbers } }, kept)

  const wrong: readonly unknown[] = [
    `{"geoJSON": "${phone}"`,
    phone,
    { geoJSON: phone },
    { geoJSON: { type: phone, coordinates: place } },
    { geoJSON: { type: 'Point', coordinates: [phone, phone] } },
    { geoJSON: { type: 'Polygon', coordinates: [[place, place, place]] } },
    { geoJSON: { type: 'Polygon', coordinates: [[[place[0] * 10, place[1] * 10]]] } },
    { geoJSON: { type: 'Feature', properties: { excluded: phone }, geometry: everybody } },
    { geoJSON: { type: 'Feature', properties: { radius: phone }, geometry: everybody } },
    { geoJSON: everybody, sources: [phone] },
    { geoJSON: everybody, after: phone },
    { geoJSON: everybody, limit: phone },
    { geoJSON: everybody, countsOnly: phone },
    { geoJSON: everybody, contactCountMode: phone },
    { geoJSON: everybody, [phone]: phone },
    { geoJSON: everybody, number: phone },
  ]
  for (const body of wrong) {
    await ask({ body })
    await ask({ body: typeof body === 'string' ? body : [body], path: '/json/reply/Recipient[]' })
    await ask({ body, path: '/api/outline' })
    await ask({ body, headers: { Accept: 'text/csv' } })
  }
  for (const path of [
    `/api/${escaped}`,
    `/api/contexts/${escaped}`,
    `/json/reply/${escaped}`,
    `/api/recipients?format=${escaped}`,
    `/api/recipients?callback=${escaped}`,
    `/api/suppressions?SourceId=${escaped}`,
    `/api/suppressions?Number=${escaped}&SourceId=x`,
    `/api/contexts?Skip=${escaped}`,
  ]) {
    await ask({ path, method: 'GET' })
    await ask({ path, body: {} })
  }
  const unsupported = { Numbers: [`${phone} `, '', phone.repeat(9)] }
  await ask({ path: '/api/suppressions', method: 'PUT', body: unsupported })
  const strange: readonly Readonly<Record<string, string>>[] = [
    { 'X-Request-Id': `id of ${phone}` },
    { traceparent: `00-${phone}-1-01` },
    { 'Content-Type': `text/${phone}` },
    { 'Content-Encoding': phone },
    { Accept: phone },
    { Origin: `http://${phone.slice(1)}.example` },
    { 'X-HTTP-Method-Override': phone },
    { 'X-Forwarded-For': phone },
    { 'If-None-Match': phone },
    { Authorization: `Bearer ${phone}` },
    { Authorization: `Basic ${Buffer.from(`${phone}:${phone}`).toString('base64')}` },
  ]
  for (const headers of strange) await ask({ body: { geoJSON: everybody }, headers }, kept)
}

/** Lists whose clients leave in the middle. */
async function cutShort(service: Service, key: string): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const request = httpRequest(`${service.url}/api/recipients`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    })
    request.on('error', () => {})
    request.on('response', (response) => response.once('data', () => request.destroy()))
    request.end(JSON.stringify({ geoJSON: everybody }))
    await sleep(50)
  }
}

function adminPortOf(service: Service): number {
  const line = service
    .output()
    .stderr.split('\n')
    .find((each) => each.includes('admin requests'))
  return Number(JSON.parse(line ?? '{}').port)
}

async function administer(port: number, evidence: Evidence[]): Promise<void> {
  for (const path of ['/metrics', '/readyz', '/livez']) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    evidence.push({ name: `admin ${path} ${response.status}`, text: await response.text() })
  }
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
}
