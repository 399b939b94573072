/**
 * A service whose data directory was replaced, as by a backup that was restored in its place, took the snapshots of the
 * new one, and went on with the suppressions, keys and contexts of the old one: `hickory suppress` ended well, and the number
 * was listed.
 *
 * @module
 */
import { once } from 'node:events'
import { cpSync, existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { placesWorld } from '../support/data/suppressions.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

t.test('a service ends when its data directory is another one', async (t) => {
  const first = await placesWorld(t)
  // With a store, as services leave it.
  await (await serve(t, '--data', first)).stop()
  const replace: Record<string, (data: string, other: string) => void> = {
    moved(data, other) {
      renameSync(data, `${data}.old`)
      renameSync(other, data)
    },
    'emptied and filled'(data, other) {
      rmSync(data, { recursive: true })
      cpSync(other, data, { recursive: true })
    },
    'of another link'(data, other) {
      rmSync(data)
      symlinkSync(other, data)
    },
    'of another store'(data, other) {
      rmSync(join(data, 'store'), { recursive: true })
      renameSync(join(other, 'store'), join(data, 'store'))
    },
  }
  for (const [how, act] of Object.entries(replace)) {
    const directory = temporaryDirectory(t)
    const [own, data, other] = ['own', 'data', 'other'].map((name) => join(directory, name))
    cpSync(first, own, { recursive: true })
    cpSync(first, other, { recursive: true })
    if (how === 'of another link') symlinkSync(own, data)
    else renameSync(own, data)
    const service = await serve(t, '--data', data)
    const ended = once(service.process, 'exit')
    act(data, other)
    const [code] = await ended
    t.equal(code, 1, how)
    const { stderr } = service.output()
    t.match(stderr, /data is another data directory than the one that is served: start the service/)
    t.equal((await (await serve(t, '--data', data)).stop()).code, 0, 'and starts again')
  }
})

t.test('while there is no other one, it serves what it has', async (t) => {
  const data = await placesWorld(t)
  const service = await serve(t, '--data', data)
  renameSync(data, `${data}.away`)
  await sleep(3_000)
  t.equal((await fetch(`${service.url}/api/sources`)).status, 200)
  t.notOk(existsSync(data))
  renameSync(`${data}.away`, data)
  await sleep(2_000)
  t.match(await (await fetch(`${service.url}/readyz`)).json(), { status: 'ready' })
  t.equal((await service.stop()).code, 0)
})
