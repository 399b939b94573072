/**
 * The admin listener of a running service, and clients that mean it no good.
 *
 * @module
 */
import { connect } from 'node:net'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { ADMIN, adminUrlOf, scrape, sumOf } from '../support/service/scraped.js'
import { until } from '../support/service/until.js'

t.test('health and metrics of a service', async (t) => {
  const service = await serve(t, ...['--sample', '--data', temporaryDirectory(t)], ...ADMIN)
  const admin = adminUrlOf(service)

  await t.test('it lives and is ready', async (t) => {
    t.equal((await fetch(`${admin}/livez`)).status, 200)
    t.equal(await (await fetch(`${admin}/readyz`)).text(), 'ready\n')
  })

  await t.test('a hundred scrapers at once, and a scrape that never reads', async (t) => {
    const deaf = Array.from({ length: 20 }, () => {
      const socket = connect(Number(new URL(admin).port), '127.0.0.1').on('error', () => {})
      socket.pause()
      // Many answers that nobody takes.
      socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200))
      return socket
    })
    const memoryBefore = sumOf(await scrape(service), 'hickory_resident_memory_bytes')
    const scrapes = await Promise.allSettled(
      Array.from({ length: 100 }, async () => {
        const answer = await fetch(`${admin}/metrics`, { headers: { Connection: 'close' } })
        return (await answer.text()).length
      }),
    )
    const got = scrapes.filter(({ status }) => status === 'fulfilled')
    t.ok(got.length > 0, `${got.length} of 100 were answered; others found all connections taken`)
    const counts = await fetch(`${service.url}/api/sources`)
    t.equal(counts.status, 200, 'clients are answered meanwhile')
    await until(
      () => deaf.every((socket) => socket.closed || socket.destroyed || hasEnded(socket)),
      60_000,
    ).catch(() => t.fail('a client that reads nothing was kept'))
    const memoryAfter = sumOf(await scrape(service), 'hickory_resident_memory_bytes')
    t.ok(memoryAfter < memoryBefore + 200e6, 'and nothing of theirs')

    /** A paused socket does not learn of its end, unless it looks. */
    function hasEnded(socket: ReturnType<typeof connect>): boolean {
      socket.resume()
      return socket.closed
    }
  })
})

t.test(
  'the admin listener of a starting service says so, and a bad setting ends the start',
  async (t) => {
    const data = temporaryDirectory(t)
    for (const [flags, message] of [
      [
        ['--admin-port', '0', '--admin-host', '0.0.0.0'],
        /--admin-host must be an address of this machine alone/,
      ],
      [['--admin-port', '0', '--admin-host', 'example.org'], /--admin-host must be an address/],
      [['--admin-port', '70000'], /--admin-port must be a whole number from 0 to 65535/],
    ] as const) {
      const { code, stderr } = await hickory('serve', '--data', data, ...flags)
      t.equal(code, 2)
      t.match(stderr, message)
    }
    const first = await serve(t, '--sample', '--data', data, ...ADMIN)
    const port = new URL(adminUrlOf(first)).port
    const second = await hickory('serve', '--data', data, '--port', '0', '--admin-port', port)
    t.equal(second.code, 8)
    t.match(
      second.stderr,
      new RegExp(`port ${port} \\(EADDRINUSE\\): choose another one with --admin-port`),
    )
    t.equal((await fetch(`${adminUrlOf(first)}/readyz`)).status, 200)
    t.ok(limits.adminConnectionCount >= 20)
  },
)
