/**
 * An audience that no other machine can take is not acknowledged; it is there all the same, and comes to the other one once
 * that can. One that is deleted while a machine is away is gone there, too.
 *
 * @module
 */
import { readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { placesWorld } from '../support/data/suppressions.js'
import { type Service, temporaryDirectory } from '../support/service/hickory.js'
import { until, untilTold } from '../support/service/until.js'
import { serveMachine } from './support/machines.js'
import { startNatsServer } from './support/nats-servers.js'

t.test('three machines, two of which have no room for audiences', async (t) => {
  const nats = await startNatsServer(t)
  const reach = [...nats.reach, '--max-lag', '15']
  const dataA = await placesWorld(t)
  const [dataB, dataC] = [temporaryDirectory(t), temporaryDirectory(t)]
  const start = (name: string, data: string) => serveMachine(t, { name, data, reach })
  const a = await start('site-a', dataA)
  const [b, c] = await Promise.all([start('site-b', dataB), start('site-c', dataC)])
  const blocked = [dataB, dataC].map((data) => join(data, 'audiences'))
  for (const path of blocked) {
    rmSync(path, { recursive: true, force: true })
    symlinkSync('/nonexistent/for/this/test', path)
  }

  const refused = await send(a, '/api/audiences', 'POST')
  t.equal(refused.status, 503)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  const { ResponseStatus } = (await refused.json()) as { ResponseStatus: Record<string, string> }
  t.equal(ResponseStatus.ErrorCode, 'Unavailable')
  const [, id = ''] = /the audience ([0-9a-f]{32}) is made, but/.exec(ResponseStatus.Message) ?? []
  t.match(ResponseStatus.Message, /waiting for (site-b, site-c|site-c, site-b)\)/)
  for (const machine of [a, b, c]) {
    t.match(await (await send(machine, '/api/audiences')).json(), { Results: [{ Id: id }] })
  }
  const whole = await (await send(a, `/api/audiences/${id}`)).text()

  await t.test('a machine without its files says so, and never that there is none', async (t) => {
    const answer = await send(b, `/api/audiences/${id}`)
    t.equal(answer.status, 503)
    t.ok(Number(answer.headers.get('retry-after')) > 0)
    t.match(await answer.json(), { ResponseStatus: { ErrorCode: 'AudienceNotHere' } })
  })

  await t.test('it comes once there is room', async (t) => {
    for (const path of blocked) rmSync(path)
    for (const machine of [b, c]) {
      await untilTold(async () => (await send(machine, `/api/audiences/${id}`)).status === 200)
      t.equal(await (await send(machine, `/api/audiences/${id}`)).text(), whole)
    }
    t.equal((await send(c, '/api/audiences', 'POST')).status, 200, 'and others are acknowledged')
  })

  await t.test('one that is deleted while a machine is away is gone there, too', async (t) => {
    await c.stop()
    t.equal((await send(b, `/api/audiences/${id}`, 'DELETE')).status, 204)
    const namesOf = () => readdirSync(join(dataC, 'audiences')).filter((name) => name.includes(id))
    t.equal(namesOf().length, 1)
    const again = await start('site-c', dataC)
    const statusNow = async () => (await send(again, `/api/audiences/${id}`)).status
    let status = await statusNow()
    // Until the machine has read that it is deleted, it says that it does not have it yet.
    await untilTold(async () => {
      if (status === 503) status = await statusNow()
      return status !== 503
    })
    t.equal(status, 404)
    await until(() => namesOf().length === 0)
  })
})

function send({ url }: Pick<Service, 'url'>, path: string, method = 'GET'): Promise<Response> {
  const everybody = { geoJSON: { xmin: -180, ymin: -90, xmax: 180, ymax: 90 } }
  return fetch(`${url}${path}`, {
    method,
    headers: { connection: 'close', 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(everybody) }),
  })
}
