/**
 * Commands that change a data directory of a machine of a cluster: what they change is on all machines, or they refuse.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readCurrent } from '../../src/snapshot/directory.js'
import { type Finished, hickory, temporaryDirectory } from '../support/service/hickory.js'
import { untilTold } from '../support/service/until.js'
import { statusBy } from './support/machines.js'
import { type Machine, startThree } from './support/three-machines.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** What a command prints about each of the machines. */
async function onEach(
  t: Test,
  machines: readonly Machine[],
  ...args: readonly string[]
): Promise<string[]> {
  const outcomes = await Promise.all(machines.map(({ data }) => hickory(...args, '--data', data)))
  for (const { code, stderr } of outcomes) t.equal(code, 0, stderr)
  return outcomes.map(({ stdout }) => stdout)
}

function fileOf(t: Test, numbers: readonly number[]): string {
  const path = join(temporaryDirectory(t), 'numbers.txt')
  writeFileSync(path, numbers.map((number) => `+99988${number}\n`).join(''))
  return path
}

function refused(t: Test, { code, stderr }: Finished, message: RegExp): void {
  t.not(code, 0)
  t.match(stderr, message)
}

/** All machines serve the snapshot that is current in a directory. */
async function untilServed(data: string): Promise<void> {
  await untilTold(async () => {
    const { machines } = await statusBy(['--data', data])
    const id = await readCurrent(data)
    return machines.every(({ snapshotId }) => snapshotId === id)
  }, 30_000)
}

t.test('what commands change is on all machines', async (t) => {
  const { machines } = await startThree(t, { seed, peopleCount: 50, optingCount: 50 })
  const [a, b, c] = machines

  await t.test('suppressed numbers', async (t) => {
    const many = Array.from({ length: 25_000 }, (_, index) => 1_000_000 + index)
    const { code, stdout, stderr } = await hickory('suppress', '--data', b.data, fileOf(t, many))
    t.equal(code, 0, stderr)
    t.match(stdout, /new +25000\n/)
    for (const count of await onEach(t, machines, 'suppress', '--count')) {
      t.equal(count, 'all sources 25000\n')
    }
    // At another machine, most of them again, and none but these.
    const fewer = many.slice(5_000)
    const again = await hickory('suppress', '--replace', '--data', c.data, fileOf(t, fewer))
    t.equal(again.code, 0, again.stderr)
    t.match(again.stdout, /new +0\nalready there 20000\ntaken off +5000\n/)
    const removed = await hickory('suppress', '--remove', '--data', a.data, fileOf(t, [1_006_000]))
    t.match(removed.stdout, /taken off +1\n/)
    const lists = await onEach(t, machines, 'suppress', '--list')
    const expected = fewer.filter((number) => number !== 1_006_000)
    for (const list of lists) t.equal(list, expected.map((number) => `+99988${number}\n`).join(''))
  })

  await t.test('keys', async (t) => {
    const key = ['--name', 'gateway', '--scopes', 'counts']
    const { code, stdout, stderr } = await hickory('keys', 'create', ...key, '--data', b.data)
    t.equal(code, 0, stderr)
    t.match(stdout, /^hk_\S+\n$/)
    const lists = await onEach(t, machines, 'keys', 'list', '--json')
    t.match(lists[0], /gateway/)
    t.equal(new Set(lists).size, 1)
    refused(t, await hickory('keys', 'create', ...key, '--data', c.data), /there is a key gateway/)
    // At the same time at all machines: each is made, of whatever the others have made of it.
    const made = await Promise.all(
      machines.map(({ data, name }) =>
        hickory('keys', 'create', '--name', name, '--scopes', 'lists', '--data', data),
      ),
    )
    for (const { code, stderr } of made) t.equal(code, 0, stderr)
    const revoked = await hickory('keys', 'revoke', 'gateway', '--data', c.data)
    t.equal(revoked.code, 0, revoked.stderr)
    const all = await onEach(t, machines, 'keys', 'list', '--json')
    t.equal(new Set(all).size, 1)
    for (const { name } of machines) t.ok(all[0].includes(name))
  })

  await t.test('snapshots of any machine are served by all', async (t) => {
    const csv = join(temporaryDirectory(t), 'people.csv')
    writeFileSync(csv, 'number,lat,lng\n+999881,1,1\n')
    const commands = [
      ['import', '--source', '9', '--label', 'Nine', csv],
      ['remove', '--source', '9'],
      ['rollback'],
      ['compact'],
      ['cluster', 'move'],
    ]
    for (const [at, [command, ...args]] of commands.entries()) {
      const { data } = machines[at % machines.length]
      const { code, stderr } = await hickory(command, ...args, '--data', data)
      t.equal(code, 0, `${command}: ${stderr}`)
      await untilServed(data)
    }
    const database = ['follow', 'postgres://nobody@127.0.0.1:1/none', '--table', 'none']
    const copy = ['--source', '9', '--label', 'Nine', '--initial-copy', '--data', a.data]
    const followed = await hickory(...database, ...copy)
    t.equal(followed.code, 2)
    t.match(followed.stderr, /of a cluster, and only its service writes to it/)
  })

  await t.test('of two that import at the same time, one is told to do it again', async (t) => {
    const csv = join(temporaryDirectory(t), 'people.csv')
    writeFileSync(csv, 'number,lat,lng\n+999881,1,1\n')
    const outcomes = await Promise.all(
      [7, 8].map((source, at) =>
        hickory(
          ...['import', '--source', String(source), '--label', 'More', csv],
          ...['--data', machines[at].data],
        ),
      ),
    )
    const refusals = outcomes.filter(({ code }) => code !== 0)
    t.ok(refusals.length <= 1)
    for (const { stderr } of refusals) t.match(stderr, /has published another snapshot meanwhile/)
    // The refused one is current where it was made until no command holds the lock of that directory.
    await untilTold(async () => {
      const ids = await Promise.all(machines.map(({ data }) => readCurrent(data)))
      return new Set(ids).size === 1
    }, 30_000)
    await untilServed(a.data)
  })

  await t.test('without the service there is no way', async (t) => {
    await b.stop()
    const keys = ['keys', 'revoke', 'site-a', '--data', b.data]
    for (const args of [['suppress', fileOf(t, [1]), '--data', b.data], keys]) {
      refused(t, await hickory(...args), /the service of site-b does not run/)
    }
    const { stdout } = await hickory('suppress', '--count', '--data', b.data)
    t.equal(stdout, 'all sources 19999\n')
  })
})
