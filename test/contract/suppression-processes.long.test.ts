/**
 * Suppression lists where several processes have the data directory, and where they end.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createStore } from '../../src/store/store.js'
import { silentLog } from '../support/data/store.js'
import { COUNT, changeList, countOf, phoneOf, placesWorld } from '../support/data/suppressions.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

t.test('every process of a data directory answers by a change', async (t) => {
  const data = await placesWorld(t)
  const services = [await serve(t, '--data', data), await serve(t, '--data', data)]
  for (let i = 0; i < 10; i++) {
    const { status, body } = await changeList(services[i % 2], 'PUT', 'all', [phoneOf(i)])
    t.match({ status, body }, { status: 200, body: { AddedCount: 1, RecipientCount: 1 } })
    for (const service of services) t.equal(await countOf(service), COUNT - i - 1)
  }
  const again = await changeList(services[0], 'PUT', 'all', [phoneOf(9), phoneOf(8)])
  t.match(again, { status: 200, body: { PresentCount: 2 } }, 'whoever put them there')

  const file = join(temporaryDirectory(t), 'list.txt')
  writeFileSync(file, Array.from({ length: 100 }, (_, i) => `${phoneOf(i)}\n`).join(''))
  const run = await hickory('suppress', '--data', data, file)
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, /^new +90$/m)
  for (const service of services) t.equal(await countOf(service), COUNT - 100)
  const removed = await hickory('suppress', '--data', data, '--remove', file)
  t.equal(removed.code, 0, removed.stderr)
  for (const service of services) t.equal(await countOf(service), COUNT)

  await services[1].stop('SIGKILL')
  const alone = await changeList(services[0], 'PUT', 'all', [phoneOf(1)])
  t.equal(alone.status, 200, 'nobody waits for the dead')
  t.equal((await services[0].stop()).code, 0)
})

t.test(
  'a service that does not answer by a change is told of, and the change is stored',
  async (t) => {
    const data = await placesWorld(t)
    const service = await serve(t, '--data', data)
    const stuck = await serve(t, '--data', data)
    stuck.process.kill('SIGSTOP')
    const { status, body } = await changeList(service, 'PUT', 'all', [phoneOf(1)])
    t.equal(status, 503)
    t.match(JSON.stringify(body), /Unavailable.*is stored, but a service/)
    t.equal(await countOf(service), COUNT - 1)
    stuck.process.kill('SIGCONT')
    const again = await changeList(service, 'PUT', 'all', [phoneOf(1)])
    t.match(again, { status: 200, body: { PresentCount: 1 } })
    t.equal(await countOf(stuck), COUNT - 1)
  },
)

t.test('what is acknowledged is there after the service is killed', async (t) => {
  const data = await placesWorld(t)
  const acknowledged: string[] = []
  for (let round = 0; round < 4; round++) {
    const service = await serve(t, '--data', data)
    const first = acknowledged.length
    const writers = [0, 1, 2].map(async (writer) => {
      for (let i = 0; ; i++) {
        const phone = `+998${round}${writer}${i}`
        const { status } = await changeList(service, 'PUT', 'all', [phone])
        if (status === 200) acknowledged.push(phone)
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
  const data = await placesWorld(t)
  const service = await serve(t, '--data', data)
  await changeList(service, 'PUT', 'all', [phoneOf(1)])
  const { code, stderr } = await service.stop()
  t.equal(code, 0, stderr)
  t.match(stderr, /"msg":"stopped"/)
  const store = await createStore(data, silentLog)
  t.teardown(() => store.close())
  t.same(store.services.lagging(99), [], 'nobody waits for it')
})
