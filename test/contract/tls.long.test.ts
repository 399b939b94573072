/**
 * A service that speaks TLS, as openssl and Node.js see it.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { everywhere } from '../support/data/everywhere.js'
import { createAuthority } from '../support/service/certificates.js'
import { engine } from '../support/service/engine.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { callTls, handshake, tlsAgent } from '../support/service/tls-client.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const directory = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const own = authority.issue('own')
const data = temporaryDirectory(t)
const TLS = ['--tls-cert', own.certificate, '--tls-key', own.key]

const everybody = JSON.stringify({ geoJSON: everywhere })
const service = await serve(t, '--sample', '--data', data, '--http-threads', '2', ...TLS)
const plain = await serve(t, '--data', data)
const agent = tlsAgent(authority, undefined, { keepAlive: true })
t.teardown(() => agent.destroy())

t.test('the announcement says https, and every front thread answers there', async (t) => {
  t.match(service.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  t.match(service.output().stdout, `curl -s ${service.url}/api/recipients`)
  for (let i = 0; i < 4; i++) {
    const { status, body } = await callTls(tlsAgent(authority), `${service.url}/readyz`)
    t.equal(status, 200)
    t.match(JSON.parse(String(body)), { status: 'ready', tls: { certificateExpires: /^20..-/ } })
  }
  const { body } = await callTls(agent, `${service.url}/metadata`)
  t.match(String(body), `${service.url}/`, 'and so do the descriptions')
  t.notMatch(String(body), 'http://127.0.0.1')
})

t.test('versions and ciphers are those of our time', async (t) => {
  const { url } = service
  const cases: [args: string[], isDone: boolean][] = [
    [['-tls1_3'], true],
    [['-tls1_2'], true],
    [['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'], false],
    [['-tls1', '-cipher', 'ALL:@SECLEVEL=0'], false],
    [['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256'], true],
    [['-tls1_2', '-cipher', 'ECDHE-ECDSA-CHACHA20-POLY1305'], true],
    [['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA256'], false],
    [['-tls1_2', '-cipher', 'aNULL:@SECLEVEL=0'], false],
    [['-tls1_3', '-ciphersuites', 'TLS_CHACHA20_POLY1305_SHA256'], true],
    [['-tls1_3', '-ciphersuites', 'TLS_AES_128_CCM_SHA256'], false],
    [['-alpn', 'h2,http/1.1'], true],
    [['-alpn', 'h2'], false],
  ]
  for (const [args, isDone] of cases) {
    const shaken = handshake(url, ...args)
    t.equal(shaken.isDone, isDone, args.join(' '))
  }
  t.match(handshake(url, '-alpn', 'h2,http/1.1').output, /ALPN protocol: http\/1\.1/)
})

t.test(
  'a client that verifies refuses a wrong name, an unknown authority and an expired certificate',
  async (t) => {
    const verify = ['-verify_return_error', '-CAfile', authority.certificate]
    const { url } = service
    t.ok(handshake(url, ...verify, '-verify_hostname', 'localhost').isDone)
    const wrongName = handshake(url, ...verify, '-verify_hostname', 'elsewhere.example')
    t.notOk(wrongName.isDone)
    t.match(wrongName.output, /hostname mismatch/i)
    const stranger = createAuthority(directory, 'stranger')
    t.notOk(handshake(url, '-verify_return_error', '-CAfile', stranger.certificate).isDone)
    await t.rejects(callTls(tlsAgent(stranger), `${url}/livez`), { code: /SELF_SIGNED|UNABLE_TO/ })

    const expired = authority.issue('expired', { fromDays: -10, toDays: -1 })
    const old = await serve(
      t,
      '--data',
      data,
      '--tls-cert',
      expired.certificate,
      '--tls-key',
      expired.key,
    )
    t.match(old.output().stderr, /"level":50.*expired at .*clients will refuse this certificate/)
    const shaken = handshake(old.url, ...verify)
    t.notOk(shaken.isDone)
    t.match(shaken.output, /certificate has expired/)
    await t.rejects(callTls(tlsAgent(authority), `${old.url}/livez`), { code: 'CERT_HAS_EXPIRED' })
    await old.stop()
  },
)

t.test('what is not TLS gets no answer', async (t) => {
  const { port } = new URL(service.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  let read = ''
  socket.on('data', (bytes) => {
    read += bytes.toString('latin1')
  })
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'close')
  t.notMatch(read, 'HTTP')
})

t.test('lists and large bodies are byte for byte those of a service without TLS', async (t) => {
  const largest = everybody + ' '.repeat(limits.bodyBytes - everybody.length)
  const bodies: [what: string, body: string, headers: Record<string, string>][] = [
    ['JSON', everybody, {}],
    ['CSV', everybody, { Accept: 'text/csv' }],
    ['NDJSON', everybody, { Accept: 'application/x-ndjson' }],
    ['gzip', everybody, { 'Accept-Encoding': 'gzip' }],
    ['the largest body', largest, {}],
    ['a body too large', `${largest} `, {}],
    ['a fault', '{', {}],
  ]
  for (const [what, body, sent] of bodies) {
    const headers = { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity', ...sent }
    const tls = await callTls(agent, `${service.url}/api/recipients`, { body, headers })
    const other = await fetch(`${plain.url}/api/recipients`, { method: 'POST', body, headers })
    const expected = Buffer.from(await other.arrayBuffer())
    const unpacked = tls.headers['content-encoding'] === 'gzip' ? gunzipSync(tls.body) : tls.body
    t.equal(tls.status, other.status, what)
    t.ok(unpacked.equals(expected), `${what}: ${expected.length} bytes`)
  }
})

t.test('who is on this machine may write, by TLS as without', async (t) => {
  const body = JSON.stringify({ ContextName: 'by TLS', Areas: [] })
  const headers = { 'Content-Type': 'application/json' }
  const { status } = await callTls(agent, `${service.url}/api/contexts`, { body, headers })
  t.equal(status, 200)
  const forwarded = { ...headers, 'X-Forwarded-For': '203.0.113.7' }
  const refused = await callTls(agent, `${service.url}/api/contexts`, { body, headers: forwarded })
  t.equal(refused.status, 403)
})

t.test('a client of another machine writes nothing', async (t) => {
  const temporary = temporaryDirectory(t)
  process.env.TMPDIR = temporary
  const args = ['--host', '0.0.0.0', '--open', '--data', data, ...TLS]
  const reached = await serve(t, ...args).finally(() => {
    delete process.env.TMPDIR
  })
  const { port } = new URL(reached.url)
  const body = JSON.stringify({ ContextName: 'from afar', Areas: [] })
  // Whoever calls an address of the network comes from one.
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ family, internal }) => family === 'IPv4' && !internal),
  )
  for (const { address } of addresses) {
    const refused = await callTls(
      tlsAgent(authority, undefined, { servername: 'localhost' }),
      `https://${address}:${port}/api/contexts`,
      { body },
    )
    t.equal(refused.status, 403, address)
    t.match(String(refused.body), 'only programs on this machine may write')
  }
  t.comment(`${addresses.length} addresses of the network`)
  const own = await callTls(tlsAgent(authority), `https://127.0.0.1:${port}/api/contexts`, { body })
  t.equal(own.status, 200)

  await t.test('and a service whose sockets are gone ends for its supervisor', async (t) => {
    const [name] = readdirSync(temporary)
    rmSync(join(temporary, name), { recursive: true })
    const end = reached.stop('SIGCONT')
    await t.rejects(callTls(tlsAgent(authority), `https://127.0.0.1:${port}/livez`))
    const { code, stderr } = await end
    t.equal(code, 1)
    t.match(stderr, /a front thread cannot be reached \(ENOENT\)/)
  })
})

t.test('a client that says behind TLS that it is somebody else is refused', async (t) => {
  const { port } = new URL(service.url)
  const get = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'
  const header = Buffer.alloc(52)
  Buffer.from('0d0a0d0a000d0a515549540a21210024', 'hex').copy(header)
  for (const [what, address] of [
    ['the first slot', '0000000001020304050607080910111213'.slice(0, 32)],
    ['this machine', `${'00'.repeat(15)}01`],
  ]) {
    header.write(address, 16, 'hex')
    const socket = connectTls({
      port: Number(port),
      host: '127.0.0.1',
      ca: readFileSync(authority.certificate),
    })
    let read = ''
    socket.on('data', (bytes) => {
      read += bytes
    })
    socket.write(get)
    await until(() => read.includes('"live"'))
    socket.write(Buffer.concat([header, Buffer.from(get)]))
    await once(socket, 'close')
    const reason = engine.name === 'uws' ? 'begins with a PROXY header' : ''
    t.match(read, new RegExp(`HTTP/1\\.1 400 [^]*${reason}`), what)
    t.equal(read.match(/"live"/g)?.length, 1)
  }
})

t.test('handshakes that stop half-way keep nobody out, and end', async (t) => {
  const port = Number(new URL(service.url).port)
  const count = limits.tlsHandshakeCount + 200
  let closedCount = 0
  const sockets = Array.from({ length: count }, (_, i) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('close', () => closedCount++)
    socket.resume()
    // Nothing at all, and the beginning of a record of 512 bytes.
    if (i % 2 === 0) socket.write(Buffer.from('16030102000100', 'hex'))
    return socket
  })
  await until(() => closedCount >= 200)
  for (let i = 0; i < 20; i++) {
    t.equal((await callTls(tlsAgent(authority), `${service.url}/livez`)).status, 200)
  }
  t.ok(closedCount < 300, `the oldest made room: ${closedCount} were closed`)
  const startedMs = performance.now()
  await until(() => closedCount === count, 3 * limits.tlsHandshakeMs)
  t.comment(`the last one was closed after ${Math.round(performance.now() - startedMs)} ms`)
  for (const socket of sockets) socket.destroy()
})

t.test('clients that read nothing cost little, and get everything when they go on', async (t) => {
  const rssBytes = () =>
    Number(
      /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.process.pid}/status`, 'latin1'))?.[1],
    ) * 1024
  const { body: expected } = await callTls(agent, `${service.url}/api/recipients`, {
    body: everybody,
  })
  const before = rssBytes()
  const clientCount = byTier({ ci: 20, soak: 40 })
  const slow = tlsAgent(authority, undefined, { maxSockets: clientCount })
  const answers = Array.from({ length: clientCount }, async () => {
    const sent = request(`${service.url}/api/recipients`, { agent: slow, method: 'POST' })
    sent.end(everybody)
    const [answer] = await once(sent, 'response')
    answer.pause()
    await sleep(4_000)
    const held = rssBytes() - before
    const pieces: Buffer[] = []
    for await (const piece of answer) pieces.push(piece as Buffer)
    return { isWhole: Buffer.concat(pieces).equals(expected), held }
  })
  const results = await Promise.all(answers)
  t.ok(results.every(({ isWhole }) => isWhole))
  const heldBytes = Math.max(...results.map(({ held }) => held))
  // By `node:http` it has to copy what it writes, and the copies wait to be collected.
  const allowedBytes = clientCount * (engine.name === 'uws' ? 3 : 6) * 2 ** 20
  t.ok(heldBytes < allowedBytes, `${Math.round(heldBytes / 2 ** 20)} MiB were held`)
  slow.destroy()
})

t.test('too many open files cost connections, and nothing else', async (t) => {
  const stopped = await serve(t, '--data', data, ...TLS)
  const { pid } = stopped.process
  const openFileCount = () => readdirSync(`/proc/${pid}/fd`).length
  const before = openFileCount()
  // Soft and hard, so that the service itself cannot raise it.
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${before + 50}`])
  const port = Number(new URL(stopped.url).port)
  const ca = readFileSync(authority.certificate)
  const sockets = Array.from({ length: 60 }, () => {
    const socket = connectTls({ port, host: '127.0.0.1', ca })
    socket.on('error', () => {})
    return socket
  })
  await until(() => openFileCount() >= before + 45)
  await sleep(500)
  for (const socket of sockets) socket.destroy()
  await until(() => openFileCount() < before + 10)
  t.equal((await callTls(tlsAgent(authority), `${stopped.url}/livez`)).status, 200)

  // A stop lets a list end, and takes nothing new.
  const { body: expected } = await callTls(agent, `${stopped.url}/api/recipients`, {
    body: everybody,
  })
  const sent = request(`${stopped.url}/api/recipients`, {
    agent: tlsAgent(authority),
    method: 'POST',
  })
  sent.end(everybody)
  const [answer] = await once(sent, 'response')
  answer.pause()
  const end = stopped.stop()
  await until(() => stopped.output().stderr.includes('"msg":"draining"'))
  await sleep(500)
  await t.rejects(callTls(tlsAgent(authority), `${stopped.url}/livez`), { code: 'ECONNREFUSED' })
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  t.ok(Buffer.concat(pieces).equals(expected))
  const { code, stderr } = await end
  t.equal(code, 0, stderr)
})

t.test('a port is shared where Node.js can do that, and otherwise the start says so', async (t) => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const shared = ['--data', data, '--share-port', ...TLS]
  if (major < 22 || (major === 22 && minor < 12)) {
    const { code, stderr } = await hickory('serve', ...shared, '--port', '0')
    t.equal(code, 2)
    t.match(stderr, /--share-port together with --tls-cert needs Node\.js 22\.12 .* a proxy/)
    return
  }
  const first = await serve(t, ...shared)
  const { port } = new URL(first.url)
  const second = await serve(t, ...shared, '--port', port)
  await first.stop()
  for (let i = 0; i < 20; i++) {
    t.equal((await callTls(tlsAgent(authority), `${second.url}/livez`)).status, 200)
  }
  await second.stop()
})

t.test('files that cannot be used end the start with a message', async (t) => {
  const { code, stderr } = await hickory(
    'serve',
    '--data',
    data,
    '--tls-cert',
    own.key,
    '--tls-key',
    own.key,
  )
  t.equal(code, 2)
  t.match(
    stderr,
    /^hickory: --tls-cert .*own\.key cannot be used: it holds a key and no certificate/m,
  )
})

t.test('clients that never read, and handshakes that stop half-way, hold no stop', async (t) => {
  agent.destroy()
  const port = Number(new URL(service.url).port)
  const ca = readFileSync(authority.certificate)
  const lists = `POST /api/recipients HTTP/1.1\r\nHost: a\r\nContent-Length: ${everybody.length}\r\n\r\n${everybody}`
  const unread = Array.from({ length: 10 }, () => connectTls({ port, host: '127.0.0.1', ca }))
  for (const socket of unread) socket.on('error', () => {}).write(lists.repeat(5))
  const halves = Array.from({ length: 10 }, () => connect(port, '127.0.0.1'))
  for (const socket of halves) {
    socket.on('error', () => {}).write(Buffer.from('16030102000100', 'hex'))
  }
  t.teardown(() => {
    for (const socket of [...unread, ...halves]) socket.destroy()
  })
  await sleep(1_000)
  const { body } = await callTls(tlsAgent(authority), `${service.url}/api/recipients`, {
    body: everybody,
  })
  t.match(String(body), '"SourceRecords"')
  const startedMs = performance.now()
  const { code, stderr } = await service.stop()
  t.equal(code, 0, stderr)
  t.ok(performance.now() - startedMs < limits.stopMs)
  t.equal((await plain.stop()).code, 0)
})
