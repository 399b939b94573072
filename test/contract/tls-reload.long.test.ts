/**
 * SIGHUP: another certificate while clients go on asking, and files that cannot be used.
 *
 * @module
 */
import { chmodSync, copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Certificate, createAuthority } from '../support/service/certificates.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { callTls, tlsAgent } from '../support/service/tls-client.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const RELOAD_COUNT = byTier({ ci: 3, soak: 20 })
const LOOP_COUNT = 8

const directory = temporaryDirectory(t)
const data = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const shown = { certificate: join(directory, 'shown.pem'), key: join(directory, 'shown.key') }

/** As a program does that renews certificates: each file is replaced as a whole. */
function put({ certificate, key }: Certificate, mode = 0o600): void {
  for (const [from, to] of [
    [certificate, shown.certificate],
    [key, shown.key],
  ] as const) {
    copyFileSync(from, `${to}.new`)
    chmodSync(`${to}.new`, mode)
    renameSync(`${to}.new`, to)
  }
}

const started = (...args: string[]) =>
  serve(t, '--data', data, '--tls-cert', shown.certificate, '--tls-key', shown.key, ...args)

const serialOf = async ({ url }: Service) =>
  (await callTls(tlsAgent(authority), `${url}/livez`)).serialNumber

const tlsNewsOf = async ({ url }: Service) =>
  JSON.parse(String((await callTls(tlsAgent(authority), `${url}/readyz`)).body)).tls

const world = [
  [-180, -90],
  [180, -90],
  [180, 90],
  [-180, 90],
]
const everybody = JSON.stringify({
  countsOnly: true,
  geoJSON: { type: 'Polygon', coordinates: [world] },
})

t.test(`${RELOAD_COUNT} new certificates cost no client an answer`, async (t) => {
  put(authority.issue('first'))
  const service = await started('--sample', '--http-threads', '2')
  const state = { isOver: false, answeredCount: 0 }
  const faults: unknown[] = []
  const serials = new Set<string>()
  const { body: expected } = await callTls(tlsAgent(authority), `${service.url}/api/recipients`, {
    body: everybody,
  })
  const loop = async (keepAlive: boolean) => {
    const kept = tlsAgent(authority, undefined, { keepAlive: true })
    while (!state.isOver) {
      const agent = keepAlive ? kept : tlsAgent(authority)
      try {
        const answer = await callTls(agent, `${service.url}/api/recipients`, { body: everybody })
        if (answer.status !== 200 || !answer.body.equals(expected)) faults.push(answer.status)
        if (!answer.isReused) serials.add(answer.serialNumber)
        state.answeredCount++
      } catch (error) {
        faults.push(error)
      }
    }
    kept.destroy()
  }
  const loops = Array.from({ length: 2 * LOOP_COUNT }, (_, i) => loop(i % 2 === 0))
  for (let i = 0; i < RELOAD_COUNT; i++) {
    const before = await serialOf(service)
    put(authority.issue(`next-${i}`))
    service.process.kill('SIGHUP')
    while ((await serialOf(service)) === before) await new Promise((r) => setTimeout(r, 10))
    const goal = state.answeredCount + 100
    await until(() => state.answeredCount >= goal)
  }
  state.isOver = true
  await Promise.all(loops)
  t.same(faults, [])
  t.ok(serials.size > RELOAD_COUNT, `clients saw ${serials.size} certificates`)
  t.comment(`${state.answeredCount} answers`)
  t.equal((await service.stop()).code, 0)
})

t.test('files that cannot be used leave the certificate as it is, and are told of', async (t) => {
  const good = authority.issue('good')
  put(good)
  const service = await started()
  const serial = await serialOf(service)
  const tlsNews = () => tlsNewsOf(service)
  t.same(Object.keys(await tlsNews()), ['certificateExpires'])

  const other = authority.issue('other')
  const cases: [what: string, put: () => void, reason: RegExp][] = [
    ['a key of another certificate', () => put({ ...good, key: other.key }), /does not belong/],
    [
      'a certificate that expired',
      () => put(authority.issue('expired', { fromDays: -9, toDays: -1 })),
      /expired at 20/,
    ],
    [
      'a certificate that is not valid yet',
      () => put(authority.issue('early', { fromDays: 1, toDays: 9 })),
      /not valid before 20/,
    ],
    ['a key that anyone may read', () => put(other, 0o644), /any user of this machine may read it/],
    ['an empty certificate', () => writeFileSync(shown.certificate, ''), /--tls-cert: it is empty/],
    [
      'half of a certificate',
      () => writeFileSync(shown.certificate, '-----BEGIN C'),
      /no certificate/,
    ],
    ['a key that is gone', () => renameSync(shown.key, `${shown.key}.gone`), /does not exist/],
  ]
  for (const [what, damage, reason] of cases) {
    put(good)
    damage()
    service.process.kill('SIGHUP')
    const isTold = async () => reason.test((await tlsNews()).refused ?? '')
    for (let i = 0; i < 500 && !(await isTold()); i++) await new Promise((r) => setTimeout(r, 10))
    const { refused } = await tlsNews()
    t.match(refused, reason, what)
    t.notMatch(refused, directory, 'the path is for the log alone')
    t.equal(await serialOf(service), serial, what)
  }
  put(other)
  service.process.kill('SIGHUP')
  while ((await serialOf(service)) === serial) await new Promise((r) => setTimeout(r, 10))
  t.same(Object.keys(await tlsNews()), ['certificateExpires'])
  const { stderr } = await service.stop()
  t.equal(stderr.match(/the certificate in use is kept/g)?.length, cases.length)
  t.equal(stderr.match(/the certificate was read again/g)?.length, 1)
})

t.test(
  'SIGHUP ends nothing: neither a service without TLS, nor one that is starting',
  async (t) => {
    const plain = await serve(t, '--data', data)
    plain.process.kill('SIGHUP')
    await until(() =>
      plain.output().stderr.includes('there is no certificate that could be read again'),
    )
    t.equal((await fetch(`${plain.url}/livez`)).status, 200)
    t.equal((await plain.stop()).code, 0)
  },
)
