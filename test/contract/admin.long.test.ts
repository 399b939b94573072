/**
 * The admin listener of a running service: its pages, profiles of its threads, and clients that mean it no
 * good.
 *
 * @module
 */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { everywhere } from '../support/data/everywhere.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { ADMIN, adminUrlOf, scrape, sumOf } from '../support/service/scraped.js'
import { until } from '../support/service/until.js'

t.test('pages and profiles of a service', async (t) => {
  const service = await serve(
    t,
    ...['--sample', '--data', temporaryDirectory(t), '--http-threads', '2', '--query-threads', '4'],
    ...ADMIN,
  )
  const admin = adminUrlOf(service)
  const list = () =>
    fetch(`${service.url}/api/recipients`, {
      method: 'POST',
      body: JSON.stringify({ geoJSON: everywhere }),
      headers: { Connection: 'close' },
    }).then((answer) => answer.arrayBuffer())

  await t.test('it lives and is ready', async (t) => {
    t.equal((await fetch(`${admin}/livez`)).status, 200)
    t.equal(await (await fetch(`${admin}/readyz`)).text(), 'ready\n')
  })

  await t.test(
    'a profile of each thread has functions, and no number of a recipient',
    async (t) => {
      const answer = await fetch(`${admin}/debug/cpu-profile?thread=nobody`)
      const threads = /there are (.*)\n/.exec(await answer.text())?.[1].split(', ') ?? []
      t.same(threads, [
        'main',
        ...['front-0', 'front-0-query-0', 'front-0-query-1'],
        ...['front-1', 'front-1-query-0', 'front-1-query-1'],
      ])
      let isOver = false
      const load = (async () => {
        while (!isOver) await Promise.all([list(), list()])
      })()
      for (const thread of threads) {
        const profile = await fetch(`${admin}/debug/cpu-profile?seconds=1&thread=${thread}`)
        t.equal(profile.status, 200, thread)
        const text = await profile.text()
        const { nodes, samples } = JSON.parse(text)
        t.ok(nodes.length > 1 && samples.length > 50, thread)
        t.notMatch(text, /\+999/)
        if (thread.includes('query')) t.match(text, /"doMessage"|"encodeRows"/, 'it was at work')
      }
      isOver = true
      await load
      const samples = await scrape(service)
      t.equal(sumOf(samples, 'hickory_query_worker_deaths_total'), 0, 'nobody died of it')
    },
  )

  await t.test('one profile at a time', async (t) => {
    const first = fetch(`${admin}/debug/cpu-profile?seconds=2`)
    await sleep(300)
    t.equal((await fetch(`${admin}/debug/cpu-profile?seconds=1&thread=front-0`)).status, 409)
    t.equal((await first).status, 200)
  })

  await t.test('a profile ends when its client leaves', async (t) => {
    const leaving = new AbortController()
    const first = fetch(`${admin}/debug/cpu-profile?seconds=60`, { signal: leaving.signal })
    first.catch(() => {})
    await sleep(300)
    leaving.abort()
    let status = 409
    for (let round = 0; status === 409 && round < 50; round++) {
      status = (await fetch(`${admin}/debug/cpu-profile?seconds=1`)).status
    }
    t.equal(status, 200)
  })

  await t.test('heaps of all threads, in numbers', async (t) => {
    const { threads } = (await (await fetch(`${admin}/debug/heap`)).json()) as {
      threads: Record<string, { usedBytes: number }>
    }
    for (const thread of ['main', 'marks', 'front-0', 'front-1', 'query-0']) {
      t.ok(threads[thread].usedBytes > 1e6, thread)
    }
  })

  await t.test('the page of the state has no script and no number of a recipient', async (t) => {
    const answer = await fetch(`${admin}/statusz`)
    const page = await answer.text()
    t.match(page, /<td>ready<\/td>/)
    t.match(page, /<td>Mobile<\/td><td>120000<\/td>/)
    t.match(page, /<td>RecipientRequest<\/td><td>200<\/td>/)
    t.notMatch(page, /<script|\+999/)
    t.match(answer.headers.get('content-security-policy'), /default-src 'none'/)
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
