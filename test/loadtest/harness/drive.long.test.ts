import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { driveHere } from '../../../loadtest/generator/drive-here.js'
import { type DriveFigures, type DrivePlan, faultsOf } from '../../../loadtest/harness/drive.js'

/** What the generator reports must be true of a server that is known to do what it does. */
async function driveAgainst(
  listener: RequestListener,
  plan: Partial<DrivePlan>,
): Promise<DriveFigures> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on('end', () => listener(request, response))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    return await driveHere({
      url: `http://127.0.0.1:${port}`,
      requests: [{ body: '{"a":1}', answer: 'right' }],
      compareAnswers: true,
      connectionCount: 4,
      seconds: 1,
      ...plan,
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

t.test('a closed loop counts every answer, and none of them failed', async (t) => {
  let answeredCount = 0
  const figures = await driveAgainst((_, response) => {
    answeredCount++
    response.end('right')
  }, {})
  t.ok(figures.successCount > 0)
  t.ok(figures.answeredCount <= answeredCount && answeredCount <= figures.sentCount)
  t.same(faultsOf('it', figures), [])
})

t.test('an open loop sends as many as it offers', async (t) => {
  const figures = await driveAgainst((_, response) => response.end('right'), {
    ratePerSecond: 200,
    seconds: 2,
  })
  t.match(figures, { offeredCount: 400, sentCount: 400, successCount: 400, unsentCount: 0 })
  t.same(faultsOf('it', figures), [])
})

t.test('who arrives while the server stands still has waited for it', async (t) => {
  // Answers of the first second come at its end, and there are four connections: all others of that
  // second, a third of all, wait for one. A generator that asked no more meanwhile would have seen
  // four slow answers, fewer than one in a hundred.
  let first: number | undefined
  const figures = await driveAgainst(
    (_, response) => {
      first ??= performance.now()
      const leftMs = Math.max(0, first + 1_000 - performance.now())
      setTimeout(() => response.end('right'), leftMs)
    },
    { ratePerSecond: 200, seconds: 3 },
  )
  t.equal(figures.successCount, 600)
  t.ok(figures.p99Ms > 900, `${figures.p99Ms}`)
})

t.test('requests that never found a connection are told', async (t) => {
  const figures = await driveAgainst(
    (_, response) => void setTimeout(() => response.end('right'), 4_000),
    { ratePerSecond: 50 },
  )
  t.match(figures, { offeredCount: 50, sentCount: 4, unsentCount: 46, successCount: 4 })
  t.match(faultsOf('it', figures).join(), '46 requests found no connection')
})

t.test('wrong answers, refusals and failures are told apart', async (t) => {
  let at = 0
  const figures = await driveAgainst(
    (_, response) => {
      const which = at++ % 4
      if (which === 1) response.writeHead(503, { 'retry-after': '1' })
      if (which === 2) response.writeHead(503)
      response.end(which === 3 ? 'wrong' : 'right')
    },
    { ratePerSecond: 100 },
  )
  const counts = { successCount: 25, refusedCount: 25, non2xxCount: 50, wrongCount: 25 }
  t.match(figures, { ...counts, failedCount: 75, lostCount: 0 })
  t.same(faultsOf('it', figures, true), [
    'it: 25 answers other than 2xx',
    'it: 25 answers differ from the known one',
  ])
})

t.test('a connection that ends without an answer loses one request, and no more', async (t) => {
  for (const end of ['end', 'destroy'] as const) {
    let at = 0
    const figures = await driveAgainst(
      (request, response) => {
        if (at++ % 10 === 9) request.socket[end]()
        else response.end('right')
      },
      { ratePerSecond: 100 },
    )
    t.match(figures, { sentCount: 100, successCount: 90, lostCount: 10, wrongCount: 0 }, end)
    t.match(faultsOf('it', figures), ['it: 10 connections ended before the answer'], end)
  }
})
