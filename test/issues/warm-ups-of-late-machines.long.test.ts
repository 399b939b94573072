/**
 * The same as processes: machines that found a cluster, that join it, and that come back alone. The last one is not
 * level: it answers counts with a warning, and refuses lists.
 */
import t from 'tap'
import { readinessOf, serveMachine } from '../cluster/support/machines.js'
import { startNatsServer } from '../cluster/support/nats-servers.js'
import { everywhere } from '../support/data/everywhere.js'
import { placesWorld } from '../support/data/suppressions.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { untilTold } from '../support/service/until.js'

t.test('machines that list nobody before they are level start', async (t) => {
  const nats = await startNatsServer(t)
  const reach = [...nats.reach, '--lagging-lists', 'refuse']
  const data = await placesWorld(t)
  const first = await serveMachine(t, { name: 'site-a', data, reach })
  const second = await serveMachine(t, { name: 'site-b', data: temporaryDirectory(t), reach })
  for (const machine of [first, second]) {
    await untilTold(async () => (await readinessOf(machine)) === 'ready')
  }
  await Promise.all([first.stop(), second.stop()])
  await nats.stop()
  const { url } = await serveMachine(t, { name: 'site-a', data, reach })
  const ask = (countsOnly: boolean) =>
    fetch(`${url}/api/recipients`, {
      method: 'POST',
      headers: { connection: 'close', 'content-type': 'application/json' },
      body: JSON.stringify({ geoJSON: everywhere, countsOnly }),
    })
  const counts = await ask(true)
  t.equal(counts.status, 200)
  t.match(counts.headers.get('x-warnings'), /"Lagging"/)
  const list = await ask(false)
  t.equal(list.status, 503)
  t.match(await list.json(), { ResponseStatus: { ErrorCode: 'Lagging' } })
})
