/**
 * The wire behind nginx and HAProxy, with the documented configurations, without keys and with them; and with
 * TLS by the service itself.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { Client, request, requestText } from '../http/wire.js'
import { createAuthority } from '../support/service/certificates.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { proxies } from '../support/service/proxies.js'
import { type Ask, checkWire } from './wire-rows.js'
import { serveWireWorld } from './wire-world.js'

const directory = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const certificate = authority.issue('proxy')
const ca = readFileSync(authority.certificate)

const open = await serveWireWorld(t)
const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)
const portsOf = (service: { readonly url: string }) => ({
  blue: portOf(service),
  green: portOf(service),
})

/** As a client of the proxy, which verifies it. */
const askAt =
  (port: number, ...own: readonly string[]): Ask =>
  (line, { headers, ...sent }) =>
    request(connect({ port, host: '127.0.0.1', ca, servername: 'localhost' }), line, {
      headers: [...headers, ...own],
      ...sent,
    })

const WRITE = {
  headers: ['Content-Type: application/json'],
  body: '{"ContextName":"x","Areas":[]}',
}

for (const [name, start] of Object.entries(proxies)) {
  t.test(`behind ${name}, without keys`, async (t) => {
    const { port } = await start(t, { ports: portsOf(open), certificate })
    await t.test('every statement of the wire holds', (t) => checkWire(t, askAt(port)))
    const { status, body } = await askAt(port)('POST /api/contexts', WRITE)
    t.equal(status, 403, 'nobody writes by way of the proxy')
    t.match(String(body), 'this request was forwarded')
    const forged = { ...WRITE, headers: [...WRITE.headers, 'X-Forwarded-For: 127.0.0.1'] }
    t.equal((await askAt(port)('POST /api/contexts', forged)).status, 403)
    await t.test('HTTP/2, and bodies of unknown length', (t) => checkCurl(t, port))
    await t.test('events come when they are told', (t) => checkEvents(t, port))
  })
}

t.test('with TLS by the service, every statement of the wire holds', async (t) => {
  const shown = ['--tls-cert', certificate.certificate, '--tls-key', certificate.key]
  const service = await serve(t, '--data', open.dataDirectory, ...shown)
  await checkWire(t, askAt(portOf(service)))
  await checkEvents(t, portOf(service))
})

/** Through a port that speaks TLS, while a context changes at the service itself. */
async function checkEvents(t: Test, port: number): Promise<void> {
  const path = '/api/contexts/0123456789abcdef0123456789abcdef'
  const change = async (method: 'PUT' | 'DELETE', name?: string) => {
    const sent = name !== undefined && { body: JSON.stringify({ ContextName: name }) }
    const headers = { 'Content-Type': 'application/json', connection: 'close' }
    return (await fetch(open.url + path, { method, headers, ...sent })).status
  }
  t.equal(await change('PUT', 'one'), 200)
  const client = new Client(connect({ port, host: '127.0.0.1', ca, servername: 'localhost' }))
  client.write(requestText(`GET ${path}/events`))
  await client.readUntil('"ContextName":"one"')
  t.equal(await change('PUT', 'two'), 200)
  const startedMs = performance.now()
  await client.readUntil('"ContextName":"two"')
  const ms = performance.now() - startedMs
  t.ok(ms < 5_000, `told after ${Math.round(ms)} ms`)
  t.equal(await change('DELETE'), 204)
  await client.readUntil('event: deleted')
  client.socket.destroy()
}

await t.test('with keys', async (t) => {
  const { dataDirectory } = open
  const keyOf = async (key: string, scopes: string) => {
    const made = ['--data', dataDirectory, '--name', key, '--scopes', scopes]
    return (await hickory('keys', 'create', ...made)).stdout.trim()
  }
  const chief = await keyOf('chief', 'admin')
  const counter = await keyOf('counter', 'counts')
  const keyed = await serve(t, '--data', dataDirectory, '--keys')
  const bearer = `Authorization: Bearer ${chief}`
  const basic = `Authorization: Basic ${Buffer.from(`any:${chief}`).toString('base64')}`
  for (const [name, start] of Object.entries(proxies)) {
    const { port } = await start(t, { ports: portsOf(keyed), certificate })
    await t.test(`behind ${name}, every statement of the wire holds for who has a key`, (t) =>
      checkWire(t, askAt(port, bearer)),
    )
  }
  for (const [name, start] of Object.entries(proxies)) {
    const { port } = await start(t, { ports: portsOf(keyed), certificate })
    const statusAt = async (line: string, sent: Parameters<Ask>[1], ...own: string[]) =>
      (await askAt(port, ...own)(line, sent)).status
    const read = { headers: [] }
    const list = { headers: [], body: '{"geoJSON":{"type":"Point","coordinates":[0,0]}}' }
    t.equal(await statusAt('GET /api/contexts', read), 401, `${name}: without a key`)
    t.equal(await statusAt('GET /api/contexts', read, `${bearer}x`), 401)
    t.equal(await statusAt('GET /api/contexts', read, basic), 200)
    t.equal(await statusAt('POST /api/contexts', WRITE, bearer), 200, 'who may write, writes')
    const other = `Authorization: Bearer ${counter}`
    t.equal(await statusAt('POST /api/recipients', list, other), 403, 'a list is not in its scopes')
    t.equal(await statusAt('POST /api/contexts', WRITE, other), 403)

    const { port: forgetful } = await start(t, {
      ports: portsOf(keyed),
      certificate,
      tellsClients: false,
    })
    const { status } = await askAt(forgetful)('POST /api/contexts', WRITE)
    t.equal(status, 401, `${name}: a proxy that forgets the header opens nothing`)
    t.equal((await askAt(forgetful)('GET /api/configuration', read)).status, 401)
  }
  const { stderr } = await keyed.stop()
  t.notMatch(stderr, chief.slice(-30), 'the key is in no log')
})

t.test('a long list comes through whole', async (t) => {
  const data = temporaryDirectory(t)
  const service = await serve(t, '--sample', '--data', data)
  const world = [
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
  ]
  const body = JSON.stringify({ geoJSON: { type: 'Polygon', coordinates: [world] } })
  const ask = { headers: ['Content-Type: application/json'], body }
  const expected = await request(portOf(service), 'POST /api/recipients', ask)
  t.ok(expected.body.length > 10_000_000)
  for (const [name, start] of Object.entries(proxies)) {
    const { port } = await start(t, { ports: portsOf(service), certificate })
    const { body } = await askAt(port)('POST /api/recipients', ask)
    t.ok(body.equals(expected.body), `${name}: ${body.length} bytes`)
  }
})

async function checkCurl(t: Test, port: number): Promise<void> {
  const curl = (...args: string[]) =>
    execFileSync(
      'curl',
      ['-s', '--cacert', authority.certificate, '-w', ' %{http_version} %{http_code}', ...args],
      { encoding: 'utf8' },
    )
  const url = `https://localhost:${port}/api/recipients`
  const body = '{"countsOnly":true}'
  t.match(curl('--http2', '-d', body, url), /"SourceRecords".* 2 200$/s)
  const chunked = curl('--http1.1', '-H', 'Transfer-Encoding: chunked', '-d', body, url)
  t.match(chunked, /"SourceRecords".* 1\.1 200$/s)
}
