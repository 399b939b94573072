/**
 * Machines that begin with what others have: as new ones, or since what they had is gone.
 *
 * @module
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { isClusterJournal } from '../../src/journal/reader.js'
import { COUNT, countOf, placesWorld } from '../support/data/suppressions.js'
import { freePort } from '../support/service/free-port.js'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'
import { untilTold } from '../support/service/until.js'
import { byTier } from '../support/tier.js'
import { readinessOf, sendChange, serveMachine, statusBy } from './support/machines.js'
import { startNatsServer } from './support/nats-servers.js'

t.test('a machine begins behind a compaction', async (t) => {
  const nats = await startNatsServer(t)
  const data = await placesWorld(t)
  const reach = [...nats.reach, '--max-lag', '15']
  const first = await serveMachine(t, { name: 'site-a', data, reach })
  for (let number = 0; number < 3; number++) await sendChange(first, number)
  const { code, stderr } = await hickory('compact', '--data', data)
  t.equal(code, 0, stderr)
  const reached = await sendChange(first, 3)
  const other = temporaryDirectory(t)
  let second = await serveMachine(t, { name: 'site-b', data: other, reach })
  t.equal(await countOf(second, { minSequence: reached }), COUNT + 4)
  t.notMatch(second.output().stderr, 'JournalDamaged')
  t.notMatch(second.output().stderr, 'starting again', 'at the first attempt')

  await t.test('and fetches what is damaged of a snapshot', async (t) => {
    const [id] = readdirSync(join(other, 'snapshots'))
    const directory = join(other, 'snapshots', id)
    // Services do not read the origin.
    const files = readdirSync(directory).filter((file) => file !== 'origin.json')
    const alone = byTier({ ci: ['manifest.json', '1-0000.shard'], soak: files })
    const rest = files.filter((file) => !alone.includes(file))
    const damaged = [...alone.map((file) => [file]), rest].filter((group) => group.length > 0)
    for (const [round, group] of damaged.entries()) {
      await second.stop()
      const written = group.map((file) => {
        const path = join(directory, file)
        const bytes = readFileSync(path)
        bytes[Math.floor(bytes.length / 2)] ^= 1
        writeFileSync(path, bytes)
        return { path, bytes }
      })
      second = await serveMachine(t, { name: 'site-b', data: other, reach })
      await untilTold(async () => (await readinessOf(second)) === 'ready')
      const minSequence = await sendChange(first, 4 + round)
      await untilTold(async () => {
        const count = await countOf(second, { minSequence }).catch(() => 0)
        return count === COUNT + 5 + round
      })
      for (const { path, bytes } of written) {
        t.notOk(readFileSync(path).equals(bytes), `${path} is as it was written`)
      }
    }
  })
})

t.test('a machine begins anew when its directory is wiped under it', async (t) => {
  const nats = await startNatsServer(t)
  const data = await placesWorld(t)
  const named = ['--data', data, '--name', 'chief', '--scopes', 'admin']
  const authorization = `Bearer ${(await hickory('keys', 'create', ...named)).stdout.trim()}`
  const reach = [...nats.reach, '--max-lag', '15']
  const directories = [data, temporaryDirectory(t), temporaryDirectory(t)]
  const names = ['site-a', 'site-b', 'site-c']
  const start = async (at: number) => {
    // It listens there again.
    const port = ['--port', String(await freePort())]
    return serveMachine(t, { name: names[at], data: directories[at], reach }, '--keys', ...port)
  }
  const machines = [await start(0), ...(await Promise.all([start(1), start(2)]))]
  await untilTold(async () => (await statusBy(['--data', directories[0]])).isWhole)

  for (const [at, name] of names.entries()) {
    await t.test(name, async (t) => {
      // That of one machine for longer than it takes to be noticed: what is noted then is removed, too.
      const overMs = performance.now() + (at === 1 ? 2_000 : 0)
      do {
        for (const entry of readdirSync(directories[at])) {
          rmSync(join(directories[at], entry), {
            recursive: true,
            force: true,
            maxRetries: 50,
            retryDelay: 20,
          })
        }
        await sleep(1)
      } while (performance.now() < overMs)
      await untilTold(async () => machines[at].output().stderr.includes('starting again'))
      await untilTold(
        async () => (await readinessOf(machines[at]).catch(() => '')) === 'ready',
        60_000,
      )
      await untilTold(async () => (await statusBy(['--data', directories[0]])).isWhole)
      const asked = await fetch(`${machines[at].url}/api/sources`, {
        headers: { authorization, connection: 'close' },
      })
      t.equal(asked.status, 200, 'it has the keys')
      t.equal(isClusterJournal(join(directories[at], 'journal')), true)
    })
  }
})
