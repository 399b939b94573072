/**
 * Deletes and numbers of a suppression list that were those of no recipient were acknowledged over HTTP like others.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { phoneOf, placesWorld } from '../support/data/suppressions.js'
import { type Service, serve } from '../support/service/hickory.js'

async function send({ url }: Service, method: string, path: string, body: object) {
  const response = await fetch(url + path, {
    method,
    headers: { connection: 'close', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { AbsentCount?: number; Warnings?: object[] }
}

t.test('who is not reached by an opt-out is told of', async (t) => {
  const data = await placesWorld(t)
  const service = await serve(t, '--data', data)
  const bare = phoneOf(1).replace('+', '')
  const put = (phone: string) => send(service, 'PUT', '/api/suppressions', { Numbers: [phone] })
  t.match((await put(bare)).Warnings, [{ Code: 'SuppressesNone', Message: /written with \+\./ }])
  t.notOk((await put(phoneOf(1))).Warnings)

  let lastId = 0
  const change = (...changes: object[]) =>
    send(service, 'POST', '/api/sources/1/changes', { batchId: `b${++lastId}`, changes })
  const come = (number: string, contact?: string) => ({
    op: 'upsert',
    number,
    lat: 1,
    lng: 2,
    contact,
  })
  const go = (number: string, contact?: string) => ({ op: 'delete', number, contact })
  await change(come('+9995551', 'c1'), come('+9995552'))
  // The tables that find recipients are there when a count has been told.
  const deadlineMs = performance.now() + limits.requestMs
  while ((await change(go('+9995559'))).AbsentCount === undefined) {
    if (performance.now() > deadlineMs) throw new Error('no count is told')
  }
  t.match(await change(go('+9995551')), { AbsentCount: 1, Warnings: [{ Code: 'DeletesNone' }] })
  const found = await change(go('+9995551', 'c1'), go('+9995552'))
  t.equal(found.AbsentCount, 0)
  t.notOk(found.Warnings)
  t.equal((await change(go('+9995552'), go('+9995551', 'c1'))).AbsentCount, 2, 'once more')
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => change(come(`+99966${at}`), go(`+99977${at}`))),
  )
  t.ok(answers.every(({ AbsentCount }) => AbsentCount === undefined || AbsentCount === 1))
  t.ok(answers.some(({ AbsentCount }) => AbsentCount === 1))
})
