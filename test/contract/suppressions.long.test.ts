/**
 * Suppression lists from end to end: what is acknowledged holds for every answer that follows.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  askBox,
  COUNT,
  changeList,
  countOf,
  EVERYWHERE,
  importPlaces,
  phoneOf,
  places,
  placesWorld,
} from '../support/data/suppressions.js'
import { hickory, type Service, serve } from '../support/service/hickory.js'

t.test('who is suppressed is in no answer, over restarts and imports', async (t) => {
  const data = await placesWorld(t)
  let service = await serve(t, '--data', data)
  t.equal(await countOf(service), COUNT)
  const put = await changeList(service, 'PUT', 'all', [phoneOf(3), phoneOf(4), '+9995'])
  t.match(put, { status: 200, body: { AddedCount: 3, RecipientCount: 2 } })
  t.equal(await countOf(service), COUNT - 2)
  t.equal(await countOf(service, { contactCountMode: 'Contact' }), COUNT - 2)
  const [{ Recipients = [] }] = await askBox(service, EVERYWHERE)
  t.notOk(Recipients.some((recipient) => recipient.Number === phoneOf(3)))
  await service.stop()

  service = await serve(t, '--data', data)
  t.equal(await countOf(service), COUNT - 2, 'after a restart')
  const id = await importPlaces(t, data, 1, places(COUNT + 10))
  await untilServed(service, id)
  t.equal(await countOf(service), COUNT + 8, 'after an import')
  await changeList(service, 'PUT', 1, [phoneOf(5), phoneOf(3)])
  t.equal(await countOf(service), COUNT + 7)
  await changeList(service, 'DELETE', 'all', [phoneOf(3), phoneOf(4)])
  t.equal(await countOf(service), COUNT + 8, 'one of them is on the list of its source')
  t.notMatch((await service.stop()).stderr, /\+999/)
})

t.test('on one service', async (t) => {
  const data = await placesWorld(t)
  const service = await serve(t, '--data', data, '--http-threads', '2')
  /** Nobody is suppressed any more, and everybody is of the one source. */
  const clean = async () => {
    await changeList(service, 'DELETE', 'all', [...places().map(({ phone }) => phone), '+9995'])
    t.equal(await countOf(service), COUNT)
  }

  await t.test('counts of contexts are never older than an acknowledged change', async (t) => {
    const read = await contextOf(service)
    let { count, tag } = await read()
    t.equal(count, COUNT)
    for (let i = 0; i < 20; i++) {
      await changeList(service, 'PUT', 'all', [phoneOf(i)])
      const next = await read()
      t.equal(next.count, COUNT - i - 1)
      t.not(next.tag, tag)
      tag = next.tag
    }
    await changeList(service, 'PUT', 'all', ['+9995'])
    ;({ count, tag } = await read())
    t.equal(count, COUNT - 20, 'a change that concerns nobody')
  })
  await clean()

  await t.test('changes hold while new snapshots are taken', async (t) => {
    const suppressed = new Set<string>()
    const isOver = { value: false }
    const changing = (async () => {
      for (let i = 0; !isOver.value; i++) {
        const phone = phoneOf((i * 7) % COUNT)
        const isRemoval = i % 3 === 2 && suppressed.has(phone)
        const { status } = await changeList(service, isRemoval ? 'DELETE' : 'PUT', 'all', [phone])
        t.equal(status, 200)
        if (isRemoval) suppressed.delete(phone)
        else suppressed.add(phone)
        t.equal(await countOf(service), COUNT - suppressed.size)
        await sleep(5)
      }
    })()
    for (let round = 0; round < 3; round++) {
      // The same people would be no new snapshot.
      const others = places().map((place) => ({ ...place, contact: `c${round}` }))
      await untilServed(service, await importPlaces(t, data, 1, others))
    }
    isOver.value = true
    await changing
    t.ok(suppressed.size > 0)
  })
  await clean()

  await t.test('counts of a snapshot that comes back respect what was changed', async (t) => {
    const id = await importPlaces(t, data, 1, places())
    await untilServed(service, id)
    const read = await contextOf(service)
    t.equal((await read()).count, COUNT)
    await untilServed(service, await importPlaces(t, data, 1, places(COUNT - 1)))
    const { body } = await changeList(service, 'PUT', 'all', [phoneOf(COUNT - 1)])
    t.match(body, { RecipientCount: 0 }, 'nobody of the snapshot that is served')
    t.not((await read()).count, COUNT, 'not even while it is counted again')
    t.equal((await hickory('rollback', '--data', data)).code, 0)
    await untilServed(service, id)
    t.equal((await read()).count, COUNT - 1)
  })
  await clean()

  await t.test('a suppression may come before its source', async (t) => {
    const { body } = await changeList(service, 'PUT', 2, [phoneOf(1)])
    t.match(body, { AddedCount: 1, RecipientCount: 0, HasSource: false })
    t.equal(await countOf(service), COUNT)
    await untilServed(service, await importPlaces(t, data, 2, places()))
    t.equal(await countOf(service), 2 * COUNT - 1)
  })
})

/** Stores a context with an area around everybody; gives what reads its count. */
async function contextOf({ url }: Service) {
  const corners = [
    [-1, -1],
    [-1, 1],
    [1, 1],
    [1, -1],
    [-1, -1],
  ]
  const Geometry = { type: 'polygon', rings: [corners], spatialReference: { wkid: 4326 } }
  const body = JSON.stringify({ ContextName: 'Drill', Areas: [{ Id: 'a', Geometry }] })
  const posted = await fetch(`${url}/api/contexts`, { method: 'POST', body })
  const { Id } = (await posted.json()) as { Id: string }
  return async () => {
    const options = { headers: { connection: 'close' } }
    const response = await fetch(`${url}/api/contexts/${Id}`, options)
    const { Areas } = (await response.json()) as { Areas: { ContactTotalCount?: number }[] }
    return { count: Areas[0].ContactTotalCount, tag: response.headers.get('etag') }
  }
}

async function untilServed({ url }: Service, snapshotId: string): Promise<void> {
  for (;;) {
    const ready = (await (await fetch(`${url}/readyz`)).json()) as { snapshotId: string }
    if (ready.snapshotId === snapshotId) return
    await sleep(20)
  }
}
