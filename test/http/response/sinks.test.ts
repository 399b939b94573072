/**
 * Streamed answers whose length was told: whole, or broken off.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { until } from '../../support/service/until.js'
import { byTier } from '../../support/tier.js'
import { nothingSeen, PIECE_BYTES, pattern, piecesOf, streamRoute } from '../patterned-stream.js'
import { Client, requestText, startServer } from '../wire.js'

const LARGE_BYTES = 64 * 1024 * 1024

t.test('pieces of any length arrive whole, and the connection goes on', async (t) => {
  const seen = nothingSeen()
  const plan = { pieces: [] as number[], toldBytes: 0 }
  const { port, server, faults, ends } = await startServer(t, [streamRoute(seen, plan)])
  const client = new Client(port)
  const anyPiece = fc.oneof(
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ min: 16_000, max: 17_000 }),
    fc.integer({ min: 0, max: PIECE_BYTES }),
  )
  const property = fc.asyncProperty(
    fc.array(anyPiece, { maxLength: 12 }),
    fc.boolean(),
    async (sizes, isSlow) => {
      const toldBytes = sizes.reduce((sum, size) => sum + size, 0)
      Object.assign(plan, { pieces: sizes, toldBytes })
      seen.writtenBytes = 0
      if (isSlow) client.socket.pause()
      client.write(requestText('GET /stream'))
      if (isSlow) setTimeout(() => client.socket.resume(), 5)
      const { headers, body } = await client.answer()
      t.equal(headers['content-length'], String(toldBytes))
      t.notOk('transfer-encoding' in headers)
      t.ok(body.equals(pattern(toldBytes)))
      await until(() => server.openExchangeCount === 0)
      t.equal(ends.pop()?.bytesOut, toldBytes)
      t.equal(seen.sink?.gone, false)
    },
  )
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 40, soak: 400 }) })
  t.equal(faults.length, 0)
  client.socket.destroy()
})

t.test('a reader that stops is waited for, in bounded memory', async (t) => {
  const seen = nothingSeen()
  const plan = { pieces: piecesOf(LARGE_BYTES), toldBytes: LARGE_BYTES }
  const { port, ends } = await startServer(t, [streamRoute(seen, plan)])
  const client = new Client(port)
  client.socket.pause()
  client.write(requestText('GET /stream'))
  await until(() => seen.blockedCount > 0)
  await new Promise((resolve) => setTimeout(resolve, 200))
  // What the two systems buffer for a connection on this machine is less than this.
  t.ok(seen.writtenBytes < LARGE_BYTES / 2, `stopped after ${seen.writtenBytes} bytes`)
  t.equal(seen.sink?.gone, false)
  client.socket.resume()
  t.ok((await client.answer()).body.equals(pattern(LARGE_BYTES)))
  await until(() => ends.length === 1)
  t.match(ends[0], { outcome: 'answered', bytesOut: LARGE_BYTES })
  client.socket.destroy()
})

t.test('a client that goes in mid-stream ends the stream', async (t) => {
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const seen = nothingSeen()
    const plan = { pieces: piecesOf(LARGE_BYTES), toldBytes: LARGE_BYTES }
    const { port, server, faults, ends } = await startServer(t, [streamRoute(seen, plan)])
    const client = new Client(port)
    client.socket.pause()
    client.write(requestText('GET /stream'))
    await until(() => seen.blockedCount > 0)
    client.socket[leave]()
    await until(() => server.openExchangeCount === 0)
    t.equal(seen.reply?.gone, true)
    t.equal(seen.sink?.gone, true)
    t.equal(seen.sink?.write(pattern(1)), false)
    await seen.sink?.drained()
    seen.sink?.end()
    seen.sink?.abort()
    t.equal(faults.length, 0)
    t.match(ends, [{ outcome: 'left' }])
    t.ok((ends[0].bytesOut as number) < LARGE_BYTES)
  }
})

t.test('a body of another length than was told is broken off, and reported', async (t) => {
  for (const [toldBytes, sizes, how] of [
    [11, [10], 'shorter'],
    [1, [], 'shorter'],
    [10, [11], 'longer'],
    [10, [6, 5], 'longer'],
    [0, [1], 'longer'],
    [2_000_000, [PIECE_BYTES, PIECE_BYTES], 'shorter'],
  ] as const) {
    const seen = nothingSeen()
    const routes = [streamRoute(seen, { pieces: sizes, toldBytes })]
    const { port, server, faults, ends } = await startServer(t, routes)
    const client = new Client(port)
    client.write(requestText('GET /stream'))
    await client.untilClosed()
    await until(() => server.openExchangeCount === 0)
    t.equal(faults.length, 1)
    t.match(JSON.stringify(faults[0]), `a body is ${how} than the ${toldBytes} bytes`)
    t.match(ends, [{ outcome: 'cut' }])
    await t.rejects(client.answer(), 'no answer looks complete')
  }
})

t.test('what is written behind the end is reported as well', async (t) => {
  const seen = nothingSeen()
  const routes = [streamRoute(seen, { pieces: [10, 1], toldBytes: 10 })]
  const { port, faults } = await startServer(t, routes)
  const client = new Client(port)
  client.write(requestText('GET /stream'))
  t.ok((await client.answer()).body.equals(pattern(10)))
  await until(() => faults.length === 1)
  client.socket.destroy()
})

t.test('HEAD tells the length, and no body follows', async (t) => {
  const seen = nothingSeen()
  const plan = { pieces: [10], toldBytes: 10 }
  const { port } = await startServer(t, [streamRoute(seen, plan)])
  const client = new Client(port)
  for (let i = 0; i < 2; i++) {
    client.write(requestText('HEAD /stream'))
    const { status, headers } = await client.answer({ headersOnly: true })
    t.same([status, headers['content-length']], [200, '10'])
  }
  client.write(requestText('GET /stream'))
  t.equal((await client.answer()).body.length, 10)
  client.socket.destroy()
})
