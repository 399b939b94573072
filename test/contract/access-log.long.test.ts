/**
 * The access log of a real service: what nobody reads stops nothing.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { placesWorld } from '../support/data/suppressions.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

async function count({ url }: Service): Promise<number> {
  const geometry = { type: 'Point', coordinates: [0, 0] }
  const geoJSON = { type: 'Feature', properties: { radius: 1 }, geometry }
  const body = JSON.stringify({ countsOnly: true, geoJSON })
  return (await fetch(`${url}/api/recipients`, { method: 'POST', body })).status
}

t.test('a line for each request, also after SIGHUP, and the last one before the end', async (t) => {
  const path = join(temporaryDirectory(t), 'access.log')
  const flags = ['--access-log', path, '--access-log-sample', '1']
  const service = await serve(t, '--data', await placesWorld(t), ...flags)
  for (let i = 0; i < 5; i++) t.equal(await count(service), 200)
  await until(() => existsSync(path) && readFileSync(path, 'utf8').split('\n').length === 6)
  renameSync(path, `${path}.1`)
  service.process.kill('SIGHUP')
  await until(() => existsSync(path))
  t.equal(await count(service), 200)
  t.equal((await service.stop()).code, 0)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  t.match(JSON.parse(lines[0]), { msg: 'request', address: '127.0.0.1' })
  t.equal(lines.length, 1)
})

t.test('a pipe that nobody reads, and a disk that is full, stop nothing', async (t) => {
  const pipe = join(temporaryDirectory(t), 'pipe')
  execFileSync('mkfifo', [pipe])
  const data = await placesWorld(t)
  for (const target of [pipe, '/dev/full']) {
    const flags = ['--access-log', target, '--access-log-sample', '1']
    const service = await serve(t, '--data', data, ...flags)
    // Few at a time: a burst to a new service on a busy machine is overload, which is answered 503.
    for (let i = 0; i < 50; i++) {
      const statuses = await Promise.all(Array.from({ length: 10 }, () => count(service)))
      t.same(statuses, Array(10).fill(200))
    }
    await until(() => service.output().stderr.includes('the access log cannot be written'))
    t.equal((await service.stop()).code, 0, target)
  }
})
