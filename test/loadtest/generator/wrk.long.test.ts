import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { driveByWrk } from '../../../loadtest/generator/wrk.js'

/** What wrk reports must be true of a server that is known to do what it does. */
async function driveAgainst(
  bodies: readonly string[],
  statusOf: (count: number) => number,
  { thinkMs = 0, slowMs = 0 } = {},
) {
  const seen = new Map<string, number>()
  let answeredCount = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const sent = `${request.method} ${request.url} ${request.headers['content-type']} `
    const key = sent + Buffer.concat(pieces)
    seen.set(key, (seen.get(key) ?? 0) + 1)
    const status = statusOf(++answeredCount)
    if (status === 200 && slowMs > 0) await sleep(slowMs)
    response.writeHead(status).end('right')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const figures = await driveByWrk({
      url: `http://127.0.0.1:${port}`,
      pid: process.pid,
      bodies,
      connectionCount: 4,
      thinkMs,
      warmUpSeconds: 1,
      seconds: 1,
      signal: new AbortController().signal,
    })
    return { figures, seen, answeredCount }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

t.test('all bodies are sent as they are, one after the other', async (t) => {
  const bodies = ['{"a":"]]]=]\\"\\\\"}', "{'b'}", '{"c":"Zürich"}']
  const { figures, seen, answeredCount } = await driveAgainst(bodies, () => 200)
  t.same(
    [...seen.keys()].sort(),
    bodies.map((body) => `POST /api/recipients application/json ${body}`).sort(),
  )
  const counts = [...seen.values()]
  t.ok(Math.max(...counts) - Math.min(...counts) <= 2, 'each as often as the others')
  t.ok(
    figures.answeredCount > 0 && figures.answeredCount < answeredCount,
    'the warm-up is left out',
  )
  t.ok(figures.p50Ms > 0 && figures.p50Ms <= figures.p99Ms && figures.p99Ms <= figures.maxMs)
  t.equal(figures.failedCount, 0)
  t.ok((figures.processor?.frontMicroseconds ?? 0) > 0)
})

t.test('answers that are faults are counted', async (t) => {
  const { figures } = await driveAgainst(['{}'], (count) => (count % 2 === 0 ? 503 : 200))
  const share = figures.failedCount / figures.answeredCount
  t.ok(share > 0.45 && share < 0.55, `${share}`)
  const ratePerAnswer = figures.perSecond / figures.answeredCount
  t.ok(ratePerAnswer > 0.3 && ratePerAnswer < 0.6, 'and are in no rate of one second')
})

t.test(
  'latencies of right answers are told apart from those of faults, which are faster',
  async (t) => {
    const statusOf = (count: number) => (count % 4 === 0 ? 200 : 503)
    const { figures } = await driveAgainst(['{}'], statusOf, { slowMs: 50 })
    const { p50Ms, faultP50Ms, faultP99Ms } = figures
    // A timer of Node.js may be a millisecond early.
    t.ok(p50Ms >= 49, `right ones ${p50Ms} ms`)
    t.ok(faultP50Ms > 0 && faultP50Ms <= faultP99Ms, `${faultP50Ms} and ${faultP99Ms} ms`)
    t.ok(faultP50Ms < 40, `faults ${faultP50Ms} ms`)
  },
)

t.test('connections think between an answer and the next request', async (t) => {
  const { figures } = await driveAgainst(['{}'], () => 200, { thinkMs: 20 })
  // Four connections, each once in 20 ms and the time of an answer.
  t.ok(figures.perSecond > 40 && figures.perSecond < 240, `${figures.perSecond} a second`)
  t.same([figures.faultP50Ms, figures.faultP99Ms], [0, 0])
})

t.test('without wrk, the package that has it is named', async (t) => {
  const { PATH } = process.env
  process.env.PATH = ''
  t.teardown(() => {
    process.env.PATH = PATH
  })
  await t.rejects(
    driveAgainst(['{}'], () => 200),
    /install the Debian package wrk/,
  )
})
