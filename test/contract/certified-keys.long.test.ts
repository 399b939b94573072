/**
 * Clients that are let in by their TLS certificates.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { placesWorld } from '../support/data/suppressions.js'
import { type Certificate, createAuthority } from '../support/service/certificates.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { callTls, tlsAgent } from '../support/service/tls-client.js'

const directory = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const own = authority.issue('own')
const [mapped, renewed, stranger] = ['mapped', 'renewed', 'stranger'].map((name) =>
  authority.issue(name, { usage: 'clientAuth' }),
)
const data = await placesWorld(t)

async function keys(...args: string[]) {
  const [command, ...rest] = args
  return hickory('keys', command, '--data', data, ...rest)
}

const scopes = ['--scopes', 'contexts:read']
const certificate = ['--certificate', mapped.certificate]
await keys('create', '--name', 'desk', ...scopes, ...certificate)
const other = (await keys('create', '--name', 'other', '--scopes', 'config:read')).stdout.trim()
const service = await serve(
  t,
  ...['--data', data, '--keys', '--tls-client-ca', authority.certificate],
  ...['--tls-cert', own.certificate, '--tls-key', own.key, '--tls-client-certs', 'optional'],
)

async function statusOf(shown: Certificate | undefined, path: string, headers = {}) {
  const agent = tlsAgent(authority, shown)
  try {
    return (await callTls(agent, `${service.url}${path}`, { headers })).status
  } finally {
    agent.destroy()
  }
}

t.test('a certificate stands for its key, and for what that may do', async (t) => {
  t.equal(await statusOf(mapped, '/api/contexts'), 200)
  t.equal(await statusOf(mapped, '/api/configuration'), 403)
  t.equal(await statusOf(stranger, '/api/contexts'), 401)
  t.equal(await statusOf(undefined, '/api/contexts'), 401)
})

t.test('a key that is sent comes before a certificate', async (t) => {
  const headers = { Authorization: `Bearer ${other}` }
  t.equal(await statusOf(mapped, '/api/configuration', headers), 200)
  t.equal(await statusOf(mapped, '/api/contexts', headers), 403)
  t.equal(await statusOf(mapped, '/api/contexts', { Authorization: 'Bearer wrong' }), 401)
})

t.test('certificates are renewed, taken away, and end with their key', async (t) => {
  const both = await keys('certificates', 'desk', mapped.certificate, renewed.certificate)
  t.match(both.stdout, 'key desk has 2 certificates')
  t.equal(await statusOf(mapped, '/api/contexts'), 200)
  t.equal(await statusOf(renewed, '/api/contexts'), 200)
  t.equal((await keys('certificates', 'desk', renewed.certificate)).code, 0)
  t.equal(await statusOf(mapped, '/api/contexts'), 401)
  const theft = await keys('certificates', 'other', renewed.certificate)
  t.equal(theft.code, 2)
  t.match(theft.stderr, /stands for the key desk already/)
  t.equal((await keys('revoke', 'desk')).code, 0)
  t.equal(await statusOf(renewed, '/api/contexts'), 401)
})

t.test('a file that is no certificate changes nothing', async (t) => {
  const file = join(directory, 'none.pem')
  writeFileSync(file, 'none')
  for (const [path, problem] of [
    [file, /is no certificate/],
    [join(directory, 'missing.pem'), /does not exist/],
    [own.key, /is no certificate/],
  ] as const) {
    const { code, stderr } = await keys('certificates', 'other', path)
    t.equal(code, 5)
    t.match(stderr, problem)
  }
})
