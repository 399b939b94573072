/**
 * A service that cannot start, one that is told to end while it starts, and one whose query workers
 * are killed.
 */
import { appendFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { everywhere } from '../support/data/everywhere.js'
import {
  hickory,
  type Service,
  serve,
  startHickory,
  temporaryDirectory,
} from '../support/service/hickory.js'

t.test('what stands in the way of a start is said, with an exit code of its own', async (t) => {
  const empty = temporaryDirectory(t)
  t.match(await hickory('serve', '--data', empty, '--port', '0'), {
    code: 3,
    stderr: /there is no snapshot in .*hickory import/,
  })
  t.same(readdirSync(empty), [], 'nothing was made without being asked for')

  const file = join(empty, 'r.csv')
  const rows = Array.from(
    { length: 500 },
    (_, i) => `+999${10_000_000 + i},${i / 10},${i / 10 - 20},`,
  )
  writeFileSync(file, `number,lat,lng,contact\n${rows.slice(0, 400).join('\n')}\n`)
  const data = join(empty, 'data')
  const imported = await hickory('import', '--data', data, '--source', '5', '--label', 'A', file)
  t.equal(imported.code, 0, imported.stderr)

  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  t.match(await hickory('serve', '--data', data, '--port', String(port)), {
    code: 8,
    stderr: new RegExp(`cannot listen on 127.0.0.1:${port}`),
  })

  const [id] = readdirSync(join(data, 'snapshots'))
  const shard = join(data, 'snapshots', id, '5-0000.shard')
  appendFileSync(shard, 'x')
  t.match(await hickory('serve', '--data', data, '--port', '0'), {
    code: 4,
    stderr: /5-0000\.shard/,
  })
  truncateSync(shard, 100)
  t.match(await hickory('serve', '--data', data, '--port', '0'), {
    code: 4,
    stderr: /5-0000\.shard/,
  })
})

t.test('a signal while it is starting stops it, with nothing half made', async (t) => {
  for (const delayMs of [250, 450, 650, 850]) {
    const data = temporaryDirectory(t)
    const { child, finished } = startHickory('serve', '--sample', '--port', '0', '--data', data)
    setTimeout(() => child.kill('SIGTERM'), delayMs)
    const { code, stdout } = await finished
    // Before it listens for signals, the system's default ends it.
    t.ok(code === 0 || (code === null && stdout === ''), `after ${delayMs} ms: ${code}`)
    const service = await serve(t, '--sample', '--data', data)
    const { SourceRecords } = await json(
      await ask(service, { countsOnly: true, geoJSON: everywhere }),
    )
    t.match(SourceRecords, [{ Count: 120_000 }, { Count: 60_000 }, { Count: 20_000 }])
    await service.stop()
  }
})

t.test('query workers that are killed cost neither an answer nor its truth', async (t) => {
  const data = temporaryDirectory(t)
  const service = await serve(t, '--sample', '--data', data, '--crash-query-worker-ms', '150')
  let answeredCount = 0
  let unavailableCount = 0
  const ask200 = async () => {
    for (let i = 0; i < 200; i++) {
      const response = await ask(service, { countsOnly: true, geoJSON: everywhere })
      const answer = await json(response)
      if (response.status === 503) unavailableCount++
      else {
        answeredCount++
        const counts = answer.SourceRecords.map(({ Count }: { Count: number }) => Count)
        if (counts.join() !== '120000,60000,20000') t.fail(`counted ${counts.join()}`)
      }
    }
  }
  await Promise.all(Array.from({ length: 10 }, ask200))
  t.equal(answeredCount + unavailableCount, 2_000)
  t.ok(answeredCount > 1_500, `${answeredCount} answered`)
  t.match(service.output().stderr, /crashed on purpose/)
  t.equal((await service.stop()).code, 0)
})

// biome-ignore lint/suspicious/noExplicitAny: what came is what is being tested
function json(response: Response): Promise<any> {
  return response.json()
}

function ask({ url }: Service, body: object): Promise<Response> {
  return fetch(`${url}/api/recipients`, { method: 'POST', body: JSON.stringify(body) })
}
