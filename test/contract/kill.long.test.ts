/**
 * What was acknowledged is there after the process was killed, over and over, on one data directory.
 *
 * @module
 */
import t from 'tap'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 5, soak: 100 })

t.test(`a write, kill -9 and a restart, ${ROUND_COUNT} times`, async (t) => {
  const data = temporaryDirectory(t)
  /** Names by id, of contexts that were acknowledged and not deleted. */
  const expected = new Map<string, string>()
  let service = await serve(t, '--sample', '--data', data)
  for (let round = 0; round < ROUND_COUNT; round++) {
    const id = await post(service, `Round ${round}`)
    expected.set(id, `Round ${round}`)
    const [oldest] = expected.keys()
    if (round % 3 === 1) {
      await put(service, oldest, `Changed in round ${round}`)
      expected.set(oldest, `Changed in round ${round}`)
    }
    if (round % 3 === 2) {
      await remove(service, oldest)
      expected.delete(oldest)
    }
    // More writes are under way when it dies; whether they are there is open, but never in part.
    const underWay = Array.from({ length: 5 }, (_, i) =>
      post(service, `Perhaps ${i}`).then(
        (given) => expected.set(given, `Perhaps ${i}`),
        () => undefined,
      ),
    )
    if (round % 2 === 0) await Promise.race(underWay)
    await service.stop('SIGKILL')
    await Promise.all(underWay)
    service = await serve(t, '--data', data)
    for (const [given, name] of expected) {
      const response = await fetch(`${service.url}/api/contexts/${given}`)
      t.equal(response.status, 200)
      const context = (await response.json()) as { ContextName: string; Areas: unknown[] }
      if (context.ContextName !== name || context.Areas.length !== 2) t.fail('it is another one')
    }
  }
  t.equal((await service.stop()).code, 0)
})

async function post(service: Service, name: string): Promise<string> {
  const response = await send(service, 'POST', '/api/contexts', name)
  return ((await response.json()) as { Id: string }).Id
}

async function put(service: Service, id: string, name: string): Promise<void> {
  await send(service, 'PUT', `/api/contexts/${id}`, name)
}

async function remove(service: Service, id: string): Promise<void> {
  const response = await fetch(`${service.url}/api/contexts/${id}`, { method: 'DELETE' })
  if (response.status !== 204) throw new Error(`deleting ended with ${response.status}`)
}

async function send(service: Service, method: string, path: string, name: string) {
  const ring = [
    [-95.4, 29.7],
    [-95.3, 29.7],
    [-95.3, 29.8],
  ]
  const Areas = [1, 2].map((at) => ({ Name: `Area ${at}`, Geometry: { rings: [ring] } }))
  const body = JSON.stringify({ ContextName: name, Areas })
  const response = await fetch(service.url + path, { method, body })
  if (!response.ok) throw new Error(`${method} ended with ${response.status}`)
  return response
}
