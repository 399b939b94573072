/**
 * A service that is told to end while it starts, and one whose query workers are killed.
 */
import t from 'tap'
import {
  type Service,
  serve,
  startHickory,
  temporaryDirectory,
} from '../support/service/hickory.js'

const everywhere = [
  [
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
  ],
]
const world = { type: 'Polygon', coordinates: everywhere }

t.test('a signal while it is starting stops it, with nothing half made', async (t) => {
  for (const delayMs of [250, 450, 650, 850]) {
    const data = temporaryDirectory(t)
    const { child, finished } = startHickory('serve', '--sample', '--port', '0', '--data', data)
    setTimeout(() => child.kill('SIGTERM'), delayMs)
    const { code, stdout } = await finished
    // Before it listens for signals, the system's default ends it.
    t.ok(code === 0 || (code === null && stdout === ''), `after ${delayMs} ms: ${code}`)
    const service = await serve(t, '--sample', '--data', data)
    const { SourceRecords } = await json(await ask(service, { countsOnly: true, geoJSON: world }))
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
      const response = await ask(service, { countsOnly: true, geoJSON: world })
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
