/**
 * The clients of load scenarios against a small server, and how they count.
 *
 * @module
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { slopeOf } from '../../loadtest/harness/slope.js'
import { Tally } from '../../loadtest/traffic/tally.js'
import { startTraffic } from '../../loadtest/traffic/traffic.js'
import { until } from '../support/service/until.js'

/** Answers what each body asks for; `break` ends the connection. */
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    if (body === 'break') request.socket.destroy()
    else if (body === 'refuse') response.writeHead(503, { 'Retry-After': '1' }).end()
    else if (body === 'fail') response.writeHead(500).end()
    else response.end(`answer to ${body}`)
  })
})
t.before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
t.teardown(() => server.close())

const urlOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

t.test('each outcome is counted as what it is', async (t) => {
  const requests = [
    { body: 'a', answer: 'answer to a' },
    { body: 'b', answer: 'another' },
    { body: 'refuse', answer: '' },
    { body: 'fail', answer: '' },
    { body: 'break', answer: '' },
  ]
  const tally = new Tally()
  const running = startTraffic({ url: urlOf(), requests, connectionCount: 1, tally })
  await until(() => tally.brokenCount >= 3 && tally.successCount >= 3)
  await running.stop()
  for (const count of ['wrongCount', 'refusedCount', 'otherCount'] as const) {
    t.ok(Math.abs(tally[count] - tally.brokenCount) <= 1, `${count} is as often as all others`)
  }
  t.equal(tally.lateCount, 0)
  const faults = tally.faults().join()
  t.match(faults, /wrong.*other than 200.*broke/)
  t.notMatch(faults, /in time/)
  t.ok(tally.latencies().p99Ms > 0)
})

t.test('at a rate of its own, no more is sent than is due', async (t) => {
  const tally = new Tally()
  const requests = [{ body: 'a', answer: 'answer to a' }]
  const startedMs = performance.now()
  const running = startTraffic({
    url: urlOf(),
    requests,
    connectionCount: 4,
    perSecond: 200,
    tally,
  })
  await until(() => tally.successCount >= 50)
  await running.stop()
  const dueCount = ((performance.now() - startedMs) / 1000) * 200
  t.ok(tally.successCount <= dueCount + 2, `${tally.successCount} sent, ${dueCount} due`)
  t.same(tally.faults(), [])
})

t.test('without reconnecting, clients end with their connections', async (t) => {
  const tally = new Tally()
  const requests = [{ body: 'break', answer: '' }]
  const options = { url: urlOf(), requests, connectionCount: 3, tally, reconnects: false }
  const running = startTraffic(options)
  await until(() => tally.brokenCount === 3)
  await running.stop()
  t.equal(tally.brokenCount, 3)
  t.same(tally.faults(), ['no request was answered rightly'])
})

t.test('a slope is that of the nearest straight line', async (t) => {
  t.equal(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
    2,
  )
  t.equal(
    slopeOf([
      [0, 0],
      [1, 1],
      [2, 1],
      [3, 0],
    ]),
    0,
  )
  t.equal(slopeOf([[1, 7]]), 0)
})
