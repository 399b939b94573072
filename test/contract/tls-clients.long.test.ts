/**
 * Client certificates: who gets in with which, and as which key.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import t from 'tap'
import {
  type Certificate,
  createAuthority,
  fingerprintOf,
} from '../support/service/certificates.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { callTls, tlsAgent } from '../support/service/tls-client.js'

const directory = temporaryDirectory(t)
const data = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const clients = createAuthority(directory, 'clients')
const strangers = createAuthority(directory, 'strangers')
const own = authority.issue('own')
const TLS = ['--tls-cert', own.certificate, '--tls-key', own.key]
const ASKING = [...TLS, '--tls-client-ca', clients.certificate]

const usage = 'clientAuth'
const desk = clients.issue('desk', { usage })
const unbound = clients.issue('unbound', { usage })
const certificates: Readonly<Record<string, Certificate | undefined>> = {
  none: undefined,
  right: desk,
  unbound,
  expired: clients.issue('expired', { usage, fromDays: -10, toDays: -1 }),
  early: clients.issue('early', { usage, fromDays: 1, toDays: 10 }),
  'for servers': clients.issue('server', { usage: 'serverAuth' }),
  'of another authority': strangers.issue('stranger', { usage }),
  'of a name that is known, signed by itself': createAuthority(directory, 'clients-forged'),
}

/** The status, or how the connection ended. */
async function ask(
  { url }: Service,
  own: Certificate | undefined,
  options: { path?: string; key?: string; version?: 'TLSv1.2' | 'TLSv1.3'; body?: string } = {},
): Promise<number | string> {
  const { path = '/livez', key, version = 'TLSv1.3', body } = options
  const agent = tlsAgent(authority, own, { minVersion: version, maxVersion: version })
  const headers = {
    ...(key && { Authorization: `Bearer ${key}` }),
    'Content-Type': 'application/json',
  }
  try {
    const { status } = await callTls(agent, `${url}${path}`, { headers, ...(body && { body }) })
    return status
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'closed'
  } finally {
    agent.destroy()
  }
}

t.test('certificates that are required, optional and not asked for', async (t) => {
  await hickory('generate', '--recipients', '10', '--seed', '1', '--out', `${directory}/people.csv`)
  const imported = ['--source', '1', '--label', 'People', `${directory}/people.csv`]
  t.equal((await hickory('import', '--data', data, ...imported)).code, 0)
  const refused: Readonly<Record<string, readonly string[]>> = {
    required: Object.keys(certificates).filter((name) => !['right', 'unbound'].includes(name)),
    optional: Object.keys(certificates).filter(
      (name) => !['none', 'right', 'unbound'].includes(name),
    ),
    off: [],
  }
  for (const [whether, names] of Object.entries(refused)) {
    const service = await serve(t, '--data', data, ...ASKING, '--tls-client-certs', whether)
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      for (const [name, certificate] of Object.entries(certificates)) {
        const found = await ask(service, certificate, { version })
        const claim = `${whether}, ${name}, ${version}: ${found}`
        if (names.includes(name)) t.not(found, 200, claim)
        else t.equal(found, 200, claim)
      }
    }
    const { code, stderr } = await service.stop()
    t.equal(code, 0)
    if (whether !== 'off') t.match(stderr, /CERT_HAS_EXPIRED.*TLS handshakes failed/)
  }
})

t.test('a certificate is that of its key, and of nothing else', async (t) => {
  const secretOf = async (...args: string[]) =>
    (await hickory('keys', 'create', '--data', data, ...args)).stdout.trim()
  const bound = ['--certificate', desk.certificate]
  await secretOf('--name', 'desk', '--scopes', 'counts,contexts:read', ...bound)
  const chief = await secretOf('--name', 'chief', '--scopes', 'admin')
  const service = await serve(
    t,
    '--data',
    data,
    '--keys',
    ...ASKING,
    '--tls-client-certs',
    'optional',
  )
  const read = { path: '/api/contexts' }
  const count = { path: '/api/recipients', body: '{"countsOnly":true}' }
  const list = { path: '/api/recipients', body: '{"geoJSON":{"type":"Point","coordinates":[0,0]}}' }
  const write = { path: '/api/contexts', body: '{"ContextName":"x","Areas":[]}' }

  t.equal(await ask(service, desk, read), 200)
  t.equal(await ask(service, desk, count), 200)
  t.equal(await ask(service, desk, list), 403, 'a list is not in its scopes')
  t.equal(await ask(service, desk, write), 403, 'and no write, although it comes from this machine')
  t.equal(await ask(service, unbound, read), 401)
  t.equal(await ask(service, undefined, read), 401)
  t.equal(await ask(service, undefined, { ...read, key: chief }), 200, 'a key needs no certificate')
  t.equal(await ask(service, desk, { ...write, key: chief }), 200, 'a key that is sent decides')
  t.equal(await ask(service, desk, { ...read, key: `${chief}x` }), 401, 'also where it is wrong')

  const certify = (name: string, ...files: string[]) =>
    hickory('keys', 'certificates', '--data', data, name, ...files)
  t.match(await certify('chief', unbound.certificate), { code: 0 })
  t.equal(await ask(service, unbound, write), 200, 'at once')
  const twice = await certify('desk', desk.certificate, unbound.certificate)
  t.match(twice, { code: 2, stderr: /stands for the key chief already/ })
  const { stdout } = await hickory('keys', 'list', '--json', '--data', data)
  t.match(JSON.parse(stdout).keys, [
    { name: 'chief', certificates: [fingerprintOf(unbound)] },
    { name: 'desk', certificates: [fingerprintOf(desk)] },
  ])
  t.match(await certify('chief'), { code: 0 })
  t.equal(await ask(service, unbound, write), 401)
  await hickory('keys', 'revoke', 'desk', '--data', data)
  t.equal(await ask(service, desk, read), 401)
  await service.stop()
})

t.test('a session that goes on elsewhere brings no certificate', async (t) => {
  const service = await serve(t, '--data', data, '--keys', ...ASKING)
  const { port } = new URL(service.url)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const options = {
      host: '127.0.0.1',
      port: Number(port),
      ca: readFileSync(authority.certificate),
      cert: readFileSync(desk.certificate),
      key: readFileSync(desk.key),
      minVersion: version,
      maxVersion: version,
    }
    const sessions: Buffer[] = []
    for (let i = 0; i < 2; i++) {
      const [session] = sessions
      const socket = connect({ ...options, ...(session && { session }) })
      socket.on('session', (one) => sessions.push(one))
      socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')
      await new Promise((resolve) => socket.once('data', resolve))
      t.equal(socket.isSessionReused(), false, `${version}, connection ${i + 1}`)
      socket.destroy()
    }
  }
  await service.stop()
})
