/**
 * Which services run on a data directory, and how far each of them is.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { readFileSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { ownName, SUPPRESSIONS_APPLIED, serviceRegistry } from '../../src/store/services.js'
import { createStore } from '../../src/store/store.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('others wait for services that live, and for no others', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const tables = openTables(storeDirectory(dataDirectory), 'write')
  t.teardown(() => tables.close())
  const registry = serviceRegistry(tables, SUPPRESSIONS_APPLIED)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const other = String(child.pid)
  const write = (name: string, takenVersion: number, start = startOf(name)) =>
    tables.transact(() =>
      tables.services.put(
        name,
        JSON.stringify({ start, file: tables.fileId, boot: '', takenVersion }),
      ),
    )

  registry.register(0)
  t.same(registry.lagging(9), [], 'not for itself')
  write(other, 4)
  t.same(registry.lagging(4), [])
  t.same(registry.lagging(5), [other])
  write(other, 5)
  t.same(registry.lagging(5), [])

  write(other, 0, '1')
  t.same(registry.lagging(5), [], 'not for another process that had the same id')
  write(other, 0, '')
  t.same(registry.lagging(5), [other], 'but where nobody tells, for whoever has the id')
  write(other, 0)
  t.same(registry.lagging(5), [other])
  withoutDescriptors(() => t.same(registry.lagging(5), [other], 'also where files cannot be read'))
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.same(registry.lagging(5), [], 'not for one that is killed')

  t.same([...tables.services.getKeys({})].sort(), [ownName, other].sort())
  registry.register(3)
  tables.refresh()
  t.same([...tables.services.getKeys({})], [ownName], 'the dead are forgotten')
  registry.publish(7)
  t.match(JSON.parse(tables.services.get(ownName) ?? ''), { takenVersion: 7 })
  registry.unregister()
  t.equal(tables.services.getCount(), 0)
})

t.test('each kind of data has its own version, for services that answer by it', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const tables = openTables(storeDirectory(dataDirectory), 'write')
  t.teardown(() => tables.close())
  const lists = serviceRegistry(tables, SUPPRESSIONS_APPLIED)
  const moves = serviceRegistry(tables, 'movesTaken')
  const own = () => {
    tables.refresh()
    return JSON.parse(tables.services.get(ownName) ?? 'null')
  }
  lists.register(3)
  moves.register(5)
  lists.publish(4)
  t.match(own(), { takenVersion: 4, movesTaken: 5 })

  const parent = String(process.ppid)
  const write = (versions: object) =>
    tables.transact(() =>
      tables.services.put(
        parent,
        JSON.stringify({ start: startOf(parent), file: tables.fileId, boot: '', ...versions }),
      ),
    )
  write({ takenVersion: 2 })
  t.same(lists.lagging(3), [parent])
  t.same(moves.lagging(3), [], 'not by one that knows nothing of it')
  t.notOk(await lists.untilTaken(3, 20))
  const taken = lists.untilTaken(3, 10_000)
  write({ takenVersion: 3 })
  t.ok(await taken)

  lists.unregister()
  t.match(own(), { movesTaken: 5, takenVersion: undefined })
  moves.unregister()
  t.equal(own(), null)
})

t.test('an entry of a copy, or of before a restart of the system, is nobody', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const tables = openTables(storeDirectory(dataDirectory), 'write')
  t.teardown(() => tables.close())
  const registry = serviceRegistry(tables, SUPPRESSIONS_APPLIED)
  registry.register(0)
  tables.refresh()
  const { file, boot } = JSON.parse(tables.services.get(ownName) ?? '')
  const { dev, ino } = statSync(join(storeDirectory(dataDirectory), 'data.mdb'))
  t.equal(file, `${dev}:${ino}`)
  t.equal(boot, readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim())

  const parent = String(process.ppid)
  const write = (more: object) => {
    const entry = { start: startOf(parent), takenVersion: 0, ...more }
    tables.transact(() => tables.services.put(parent, JSON.stringify(entry)))
    return registry.lagging(1)
  }
  t.same(write({ file, boot }), [parent])
  t.same(write({ file: `${dev}:${ino + 1}`, boot }), [])
  t.same(write({ file, boot: 'other' }), [])
  t.same(write({}), [], 'one that says neither, which no release wrote')
  t.same(write({ file, boot: '' }), [parent], 'one of a system that does not tell is waited for')
  write({ file, boot })
  withoutDescriptors(() =>
    t.same(registry.lagging(1), [parent], 'as this one may not, for a while'),
  )

  write({ file: '0:0', boot })
  registry.register(0)
  tables.refresh()
  t.same([...tables.services.getKeys({})], [ownName], 'what was copied is forgotten')
})

function startOf(name: string): string {
  const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

/** As it is for a process that has opened as many files as it may. */
function withoutDescriptors(work: () => void): void {
  const { readFileSync } = fs
  fs.readFileSync = () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  }
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    fs.readFileSync = readFileSync
    syncBuiltinESMExports()
  }
}
