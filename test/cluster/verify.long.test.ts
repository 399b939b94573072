/**
 * `hickory cluster verify` on machines that run. Those that hold parts are compared in regions/regions.long.test.ts.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readCurrent } from '../../src/snapshot/directory.js'
import { openTablesToWrite } from '../../src/store/digests.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { changeList } from '../support/data/suppressions.js'
import { testSeed } from '../support/random/properties.js'
import { freePort } from '../support/service/free-port.js'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'
import { untilTold } from '../support/service/until.js'
import { OPTING_SOURCE, phoneOf } from './faults/crowd.js'
import { flipInMemory } from './support/flip-in-memory.js'
import { countOf, sendChange, statusBy, verifyBy } from './support/machines.js'
import { type Machine, startThree } from './support/three-machines.js'

const PEOPLE_COUNT = 3_000

t.test('three machines are compared while they are changed', async (t) => {
  const seed = testSeed(t)
  const three = await startThree(t, { seed, peopleCount: PEOPLE_COUNT, optingCount: 200 })
  const [first, second, third] = three.machines
  const reach = ['--data', first.data]
  await untilTold(async () => (await statusBy(reach)).isWhole)
  let sentCount = 0

  await t.test('with changes on all of them', async (t) => {
    const over = new AbortController()
    const sending = sendUntil(over.signal, three.machines, () => sentCount++)
    try {
      let before = 0
      for (let round = 0; round < 2; round++) {
        const { code, told, stderr } = await verifyBy(...reach)
        t.equal(code, 0, stderr)
        t.same([told.isSame, told.differences, told.missing], [true, [], []])
        t.same(told.machines.map(({ name }) => name).sort(), ['site-a', 'site-b', 'site-c'])
        t.ok(told.sequence > before)
        before = told.sequence
      }
    } finally {
      over.abort()
      await sending
    }
    t.ok(sentCount > 10, `${sentCount} changes were sent`)
    const { told } = await verifyBy(...reach)
    for (const { name, regions } of told.machines) {
      t.equal(countOf(regions, 1), PEOPLE_COUNT + sentCount, name)
      t.equal(countOf(regions, 2), 200, name)
    }
  })

  await t.test('while they switch to another snapshot', async (t) => {
    const before = await readCurrent(first.data)
    const [compacted, ...verified] = await Promise.all([
      hickory('compact', '--data', first.data),
      verifyBy(...reach),
      verifyBy(...reach),
    ])
    t.equal(compacted.code, 0, compacted.stderr)
    for (const { code, told, stderr } of verified) {
      t.equal(code, 0, `${stderr} ${JSON.stringify(told.differences)}`)
    }
    await untilTold(async () => (await verifyBy(...reach)).told.snapshotId !== before)
    const { code, told } = await verifyBy(...reach)
    t.equal(code, 0)
    t.equal(countOf(told.machines[2].regions, 1), PEOPLE_COUNT + sentCount)
  })

  await t.test('for people', async (t) => {
    const { code, stdout } = await hickory('cluster', 'verify', ...reach)
    t.equal(code, 0)
    t.match(stdout, /machines site-a, site-b, site-c/)
    t.match(stdout, new RegExp(`recipients of source 1 +${PEOPLE_COUNT + sentCount}\n`))
  })

  await t.test('with one of them away', async (t) => {
    await third.stop('SIGKILL')
    const { code, told, stderr } = await verifyBy(...reach)
    t.equal(code, 1)
    t.match(stderr, /site-c cannot be compared: it is not heard/)
    t.same([told.isSame, told.differences], [false, []])
    t.same(told.missing, [{ name: 'site-c', reason: 'it is not heard' }])
    t.equal(told.machines.length, 2)
    await third.start()
    await untilTold(async () => (await statusBy(reach)).isWhole, 60_000)
    t.equal((await verifyBy(...reach)).code, 0)
  })

  await t.test('with one whose memory has one bit flipped', async (t) => {
    const { pid = 0 } = second.service.process
    t.ok(flipInMemory(pid, phoneOf(OPTING_SOURCE, 7)) > 0)
    const { code, told } = await verifyBy(...reach)
    t.equal(code, 1)
    t.same(
      told.differences.map(({ kind, what }) => [kind, what]),
      [['content', 'source 2, region 0']],
    )
    const [{ values }] = told.differences
    t.match(values['site-b'], /^200 \(\w{8}\)$/)
    t.equal(values['site-a'], values['site-c'])
    t.not(values['site-a'], values['site-b'])
    await second.stop()
    await second.start()
    await untilTold(async () => (await statusBy(reach)).isWhole, 60_000)
    t.equal((await verifyBy(...reach)).code, 0, 'it has read its files once more')
  })

  await t.test('with a store that has what no other one has', async (t) => {
    const tables = openTablesToWrite(storeDirectory(second.data))
    tables.transact(() => tables.suppressions.put('all/+99911', '0'))
    await tables.close()
    const { code, told, stderr } = await verifyBy(...reach)
    t.equal(code, 1)
    t.match(stderr, /the machines do not have the same/)
    t.same(
      told.differences.map(({ kind, what }) => [kind, what]),
      [['content', 'suppressions']],
    )
    const [{ values }] = told.differences
    t.equal(values['site-a'], values['site-c'])
    t.not(values['site-a'], values['site-b'])
    const { stdout } = await hickory('cluster', 'verify', ...reach)
    t.match(stdout, /differs +site-a +site-b +site-c\nsuppressions +\d+ \(\w{8}\) +\d+ \(\w{8}\)/)
  })

  await t.test('with a store whose rows a disk has changed', async (t) => {
    const tables = openTables(storeDirectory(third.data), 'write')
    tables.transact(() => tables.meta.put('keysVersion', '77'))
    await tables.close()
    const { code, told } = await verifyBy(...reach)
    t.equal(code, 1)
    t.same(
      told.differences.map(({ what }) => what),
      ['suppressions', 'rows of the store'],
    )
    t.same(told.differences[1].values, {
      'site-a': 'as written',
      'site-b': 'as written',
      'site-c': 'changed (keys)',
    })
  })
})

t.test('what cannot be asked is said', async (t) => {
  const port = await freePort()
  const cases: [readonly string[], number, RegExp][] = [
    [['--no-such-flag'], 2, /unknown option '--no-such-flag'/],
    [['site-a'], 2, /too many arguments/],
    [['--data', temporaryDirectory(t)], 2, /no service of a cluster has run on/],
    [['--cluster', `nats://127.0.0.1:${port}`], 1, /NATS/],
  ]
  for (const [args, expected, message] of cases) {
    const { code, stdout, stderr } = await hickory('cluster', 'verify', ...args)
    t.same([code, stdout], [expected, ''], `${args}: ${stderr}`)
    t.match(stderr, message)
  }
})

/** Beside what is compared, not as many as there may be. */
const SEND_PAUSE_MS = 20

async function sendUntil(signal: AbortSignal, machines: readonly Machine[], next: () => number) {
  while (!signal.aborted) {
    await sleep(SEND_PAUSE_MS)
    const number = next()
    const machine = machines[number % machines.length]
    await sendChange(machine, number)
    if (number % 3 > 0) continue
    const { status } = await changeList(machine, 'PUT', 'all', [phoneOf(OPTING_SOURCE, number)])
    if (status !== 200) throw new Error(`status ${status}`)
  }
}
