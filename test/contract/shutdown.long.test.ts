/**
 * SIGTERM while many clients ask: each gets all its answers, and learns that its connection ends.
 *
 * @module
 */
import t from 'tap'
import { Client } from '../http/wire.js'
import { callOnOneConnection } from '../support/service/caller.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const square = [
  [-96, 29],
  [-95, 29],
  [-95, 30],
  [-96, 30],
  [-96, 29],
]
const geoJSON = { type: 'Polygon', coordinates: [square] }

t.test('SIGTERM under 64 kept connections costs no client an error', async (t) => {
  const data = temporaryDirectory(t)
  const service = await serve(t, '--sample', '--data', data, '--http-threads', '2')
  const port = Number(new URL(service.url).port)
  const counts = {
    line: 'POST /api/recipients',
    body: JSON.stringify({ countsOnly: true, geoJSON }),
  }
  const list = { line: 'POST /api/recipients', body: JSON.stringify({ geoJSON }) }
  let doneCount = 0
  const calls = Array.from({ length: 64 }, async (_, i) => {
    const asked = i % 16 === 0 ? list : counts
    // Half of them ask without a pause; the others are idle in between, for as long as is promised.
    const made = await callOnOneConnection({ port, ...asked, pauseMs: i % 2 === 0 ? 0 : 10 * i })
    doneCount++
    return made
  })
  const idle = Array.from({ length: 8 }, () => new Client(port))
  await new Promise((resolve) => setTimeout(resolve, 700))
  t.equal(doneCount, 0)
  const { code, stderr } = await service.stop()
  t.equal(code, 0, stderr)
  const made = await Promise.all(calls)
  t.same(
    made.flatMap(({ faults }) => faults),
    [],
  )
  for (const [i, { bodies }] of made.entries()) {
    t.ok(bodies.length > 0 && bodies.every((body) => body === bodies[0]), `client ${i}`)
  }
  await until(() => idle.every(({ closed }) => closed))
  t.same(
    idle.flatMap(({ errors }) => errors),
    [],
    'who asked nothing saw the connection end',
  )
  t.notMatch(stderr, 'broken off')
})
