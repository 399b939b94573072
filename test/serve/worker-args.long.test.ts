import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

/** Enough to draw for a profile to have samples of it. */
const circles = {
  type: 'Feature',
  geometry: { type: 'MultiPoint', coordinates: Array.from({ length: 20 }, (_, i) => [i / 10, i]) },
  properties: { radius: 100_000 },
}

t.test('each query worker and clipping thread is profiled', async (t) => {
  const data = temporaryDirectory(t)
  const profiles = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(100))
  process.env.HICKORY_WORKER_ARGS = `--cpu-prof --cpu-prof-interval=100 --cpu-prof-dir=${profiles}`
  const threads = ['--http-threads', '1', '--query-threads', '2']
  const service = await serve(t, '--data', data, ...threads)
  const answer = await fetch(`${service.url}/api/outline`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ geoJSON: circles }),
  })
  t.equal(answer.status, 200)
  t.equal((await service.stop()).code, 0)

  // Those of the threads in which Node.js runs the hooks of the test runner are not counted.
  const texts = readdirSync(profiles).map((name) => readFileSync(join(profiles, name), 'utf8'))
  const countWith = (path: string) => texts.filter((text) => text.includes(path)).length
  t.equal(countWith('/bundle/query.js'), 2)
  t.equal(countWith('/bundle/clip.js'), 1)
})

t.test('options that Node.js refuses for a thread end the start, and are named', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(100))
  process.env.HICKORY_WORKER_ARGS = '--max-old-space-size=10'
  await t.rejects(serve(t, '--data', data), /serve ended with 1: .*--max-old-space-size=10/s)
})
