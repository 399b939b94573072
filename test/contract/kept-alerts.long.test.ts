/**
 * Kept alerts are counted live, and are there after a kill.
 *
 * @module
 */
import t from 'tap'
import { type AlertShape, alertXml } from '../support/data/alerts.js'
import {
  COUNT,
  changeList,
  countOf as countPeople,
  phoneOf,
  placesWorld,
} from '../support/data/suppressions.js'
import { type Service, serve } from '../support/service/hickory.js'

/** Around the recipients of the first row of places, and those of all rows. */
const square = (north: number): AlertShape => ({
  kind: 'polygon',
  ring: [
    [-1, -1],
    [60, -1],
    [60, north],
    [-1, north],
    [-1, -1],
  ],
})

t.test('alerts follow changes and suppressions, and survive a kill', async (t) => {
  const data = await placesWorld(t)
  let service = await serve(t, '--data', data)
  await put(service, alertXml({ identifier: 'a', shapes: [square(60)] }), 'a')
  const update = { identifier: 'b', msgType: 'Update', references: ['a'] } as const
  await put(service, alertXml({ ...update, shapes: [square(0.005)] }), 'b')
  const row = 50
  t.equal(await countOf(service, 'a'), COUNT)
  t.equal(await countOf(service, 'b'), row)
  t.match(await changesOf(service), { NewCount: 0, GoneCount: COUNT - row, StayingCount: row })

  await changeList(service, 'PUT', 'all', [phoneOf(0)])
  t.equal(await countOf(service, 'b'), row - 1)
  const upsert = { op: 'upsert', number: '+9998000001', lat: 0, lng: 0.2 }
  const gone = { op: 'delete', number: phoneOf(499) }
  const sent = await fetch(`${service.url}/api/sources/1/changes`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ batchId: 'one', changes: [upsert, gone] }),
  })
  t.equal(sent.status, 200)
  const { Sequence } = (await sent.json()) as { Sequence: number }
  // It is acknowledged when it is on disk; its one HTTP thread answers by it from here on.
  await countPeople(service, { minSequence: Sequence })
  const after = { NewCount: 0, GoneCount: COUNT - row - 1, StayingCount: row }
  const check = async () => {
    t.equal(await countOf(service, 'a'), COUNT - 1)
    t.equal(await countOf(service, 'b'), row)
    t.match(await changesOf(service), after)
  }
  await check()
  const before = await text(service, '/api/alerts')
  await service.stop('SIGKILL')
  service = await serve(t, '--data', data)
  t.equal(await text(service, '/api/alerts'), before)
  await check()
})

async function put({ url }: Service, cap: string, identifier: string): Promise<void> {
  const response = await fetch(`${url}/api/alerts/${identifier}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/cap+xml' },
    body: cap,
  })
  if (response.status !== 200) throw new Error(await response.text())
}

async function text({ url }: Service, path: string): Promise<string> {
  return await (await fetch(url + path)).text()
}

async function countOf(service: Service, identifier: string): Promise<number> {
  const { Areas } = JSON.parse(await text(service, `/api/alerts/${identifier}`))
  return Areas[0].ContactTotalCount
}

async function changesOf(service: Service): Promise<Record<string, number>> {
  return JSON.parse(await text(service, '/api/alerts/b/changes')).SourceRecords[0]
}
