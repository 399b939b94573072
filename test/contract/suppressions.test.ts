/**
 * Do-not-contact lists of real services: what is acknowledged holds at once, for every process of the
 * data directory, and after every end of it.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createStore } from '../../src/store/create.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/hickory.js'
import { silentLog } from '../support/store.js'
import { askBox, changeList, importPlaces, type Place } from '../support/suppressions.js'
import { until } from '../support/until.js'

const EVERYWHERE = [0, 0, 50, 50]
const COUNT = 500

const numberOf = (i: number) => `+999${String(i).padStart(6, '0')}`

const places = (count = COUNT): Place[] =>
  Array.from({ length: count }, (_, i) => ({
    number: numberOf(i),
    lng: i % 50,
    lat: Math.floor(i / 50) % 50,
    contact: '',
  }))

async function countOf(service: Service, more: object = {}): Promise<number> {
  const records = await askBox(service, EVERYWHERE, { countsOnly: true, ...more })
  return records.reduce((sum, { Count }) => sum + Count, 0)
}

async function world(t: Test) {
  const data = temporaryDirectory(t)
  await importPlaces(t, data, 1, places())
  return data
}

t.test('who is suppressed is in no answer, over restarts and imports', async (t) => {
  const data = await world(t)
  let service = await serve(t, '--data', data)
  t.equal(await countOf(service), COUNT)
  const put = await changeList(service, 'PUT', 'all', [numberOf(3), numberOf(4), '+9995'])
  t.match(put, { status: 200, body: { AddedCount: 3, RecipientCount: 2 } })
  t.equal(await countOf(service), COUNT - 2)
  t.equal(await countOf(service, { contactCountMode: 'Contact' }), COUNT - 2)
  const [{ Recipients = [] }] = await askBox(service, EVERYWHERE)
  t.notOk(Recipients.some((recipient) => recipient.Number === numberOf(3)))
  await service.stop()

  service = await serve(t, '--data', data)
  t.equal(await countOf(service), COUNT - 2, 'after a restart')
  const id = await importPlaces(t, data, 1, places(COUNT + 10))
  await untilServed(service, id)
  t.equal(await countOf(service), COUNT + 8, 'after an import')
  await changeList(service, 'PUT', 1, [numberOf(5), numberOf(3)])
  t.equal(await countOf(service), COUNT + 7)
  await changeList(service, 'DELETE', 'all', [numberOf(3), numberOf(4)])
  t.equal(await countOf(service), COUNT + 8, 'one of them is on the list of its source')
  t.notMatch((await service.stop()).stderr, /\+999/)
})

t.test('a suppression may come before its source', async (t) => {
  const data = await world(t)
  const service = await serve(t, '--data', data)
  const { body } = await changeList(service, 'PUT', 2, [numberOf(1)])
  t.match(body, { AddedCount: 1, RecipientCount: 0, HasSource: false })
  t.equal(await countOf(service), COUNT)
  await untilServed(service, await importPlaces(t, data, 2, places()))
  t.equal(await countOf(service), 2 * COUNT - 1)
})

t.test('changes hold while new snapshots are taken', async (t) => {
  const data = await world(t)
  const service = await serve(t, '--data', data)
  const suppressed = new Set<string>()
  const isOver = { value: false }
  const changing = (async () => {
    for (let i = 0; !isOver.value; i++) {
      const number = numberOf((i * 7) % COUNT)
      const isRemoval = i % 3 === 2 && suppressed.has(number)
      const { status } = await changeList(service, isRemoval ? 'DELETE' : 'PUT', 'all', [number])
      t.equal(status, 200)
      if (isRemoval) suppressed.delete(number)
      else suppressed.add(number)
      t.equal(await countOf(service), COUNT - suppressed.size)
      await sleep(5)
    }
  })()
  for (let round = 0; round < 3; round++) {
    await untilServed(service, await importPlaces(t, data, 1, places()))
  }
  isOver.value = true
  await changing
  t.ok(suppressed.size > 0)
})

t.test('counts of contexts are never older than an acknowledged change', async (t) => {
  const data = await world(t)
  const service = await serve(t, '--data', data, '--http-threads', '2')
  const read = await contextOf(service)
  let { count, tag } = await read()
  t.equal(count, COUNT)
  for (let i = 0; i < 20; i++) {
    await changeList(service, 'PUT', 'all', [numberOf(i)])
    const next = await read()
    t.equal(next.count, COUNT - i - 1)
    t.not(next.tag, tag)
    tag = next.tag
  }
  await changeList(service, 'PUT', 'all', ['+9995'])
  ;({ count, tag } = await read())
  t.equal(count, COUNT - 20, 'a change that concerns nobody')
})

t.test('counts of a snapshot that comes back respect what was changed meanwhile', async (t) => {
  const data = temporaryDirectory(t)
  const id = await importPlaces(t, data, 1, places())
  const service = await serve(t, '--data', data)
  const read = await contextOf(service)
  t.equal((await read()).count, COUNT)
  await untilServed(service, await importPlaces(t, data, 1, places(COUNT - 1)))
  const { body } = await changeList(service, 'PUT', 'all', [numberOf(COUNT - 1)])
  t.match(body, { RecipientCount: 0 }, 'nobody of the snapshot that is served')
  t.not((await read()).count, COUNT, 'not even while it is counted again')
  t.equal((await hickory('rollback', '--data', data)).code, 0)
  await untilServed(service, id)
  t.equal((await read()).count, COUNT - 1)
})

t.test('every process of a data directory answers by a change', async (t) => {
  const data = await world(t)
  const services = [await serve(t, '--data', data), await serve(t, '--data', data)]
  for (let i = 0; i < 10; i++) {
    const { status, body } = await changeList(services[i % 2], 'PUT', 'all', [numberOf(i)])
    t.match({ status, body }, { status: 200, body: { AddedCount: 1, RecipientCount: 1 } })
    for (const service of services) t.equal(await countOf(service), COUNT - i - 1)
  }
  const again = await changeList(services[0], 'PUT', 'all', [numberOf(9), numberOf(8)])
  t.match(again, { status: 200, body: { PresentCount: 2 } }, 'whoever put them there')

  const file = join(temporaryDirectory(t), 'list.txt')
  writeFileSync(file, Array.from({ length: 100 }, (_, i) => `${numberOf(i)}\n`).join(''))
  const run = await hickory('suppress', '--data', data, file)
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, /^new +90$/m)
  for (const service of services) t.equal(await countOf(service), COUNT - 100)
  const removed = await hickory('suppress', '--data', data, '--remove', file)
  t.equal(removed.code, 0, removed.stderr)
  for (const service of services) t.equal(await countOf(service), COUNT)

  await services[1].stop('SIGKILL')
  const alone = await changeList(services[0], 'PUT', 'all', [numberOf(1)])
  t.equal(alone.status, 200, 'nobody waits for the dead')
  t.equal((await services[0].stop()).code, 0)
})

t.test(
  'a service that does not answer by a change is told of, and the change is stored',
  async (t) => {
    const data = await world(t)
    const service = await serve(t, '--data', data)
    const stuck = await serve(t, '--data', data)
    stuck.process.kill('SIGSTOP')
    const { status, body } = await changeList(service, 'PUT', 'all', [numberOf(1)])
    t.equal(status, 503)
    t.match(JSON.stringify(body), /Unavailable.*is stored, but a service/)
    t.equal(await countOf(service), COUNT - 1)
    stuck.process.kill('SIGCONT')
    const again = await changeList(service, 'PUT', 'all', [numberOf(1)])
    t.match(again, { status: 200, body: { PresentCount: 1 } })
    t.equal(await countOf(stuck), COUNT - 1)
  },
)

t.test('what is acknowledged is there after the service is killed', async (t) => {
  const data = await world(t)
  const acknowledged: string[] = []
  for (let round = 0; round < 4; round++) {
    const service = await serve(t, '--data', data)
    const first = acknowledged.length
    const writers = [0, 1, 2].map(async (writer) => {
      for (let i = 0; ; i++) {
        const number = `+998${round}${writer}${i}`
        const { status } = await changeList(service, 'PUT', 'all', [number])
        if (status === 200) acknowledged.push(number)
      }
    })
    const ended = Promise.allSettled(writers)
    await until(() => acknowledged.length > first + 5)
    await sleep(20 * Math.random())
    await service.stop('SIGKILL')
    await ended
  }
  const store = await createStore(data, silentLog)
  t.teardown(() => store.close())
  const lost = acknowledged.filter((each) => store.suppressions.find(each, undefined).length === 0)
  t.equal(lost.length, 0, `of ${acknowledged.length}`)
})

t.test('the thread that sets marks ends with the service', async (t) => {
  const data = await world(t)
  const service = await serve(t, '--data', data)
  await changeList(service, 'PUT', 'all', [numberOf(1)])
  const { code, stderr } = await service.stop()
  t.equal(code, 0, stderr)
  t.match(stderr, /"msg":"stopped"/)
  const store = await createStore(data, silentLog)
  t.teardown(() => store.close())
  t.same(store.services.lagging(99), [], 'nobody waits for it')
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
