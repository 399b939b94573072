/**
 * Two processes that found the same lock stale, as after a failure of power, both took it over: the slower one removed the
 * lock that the other one had taken meanwhile. An import then failed on a draft that was removed under it, and two could
 * have published a snapshot of the same base.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** A lock that its owner has not renewed for long. */
function staleLock(data: string): string {
  const path = join(data, 'import.lock')
  fs.mkdirSync(path)
  fs.utimesSync(path, 1_000, 1_000)
  return path
}

t.test('of two that find a lock stale, one takes it', async (t) => {
  const data = temporaryDirectory(t)
  const path = staleLock(data)
  // The library has looked at it, and has not removed it yet.
  const { stat } = fs
  const looked = ((file: string, done: (fault: unknown, stats: unknown) => void) =>
    stat(file, (fault, stats) => {
      if (file === path && stats !== undefined && stats.mtimeMs === 1_000_000) {
        fs.rmdirSync(path)
        fs.mkdirSync(path)
      }
      done(fault, stats)
    })) as typeof stat
  mock.method(fs, 'stat', looked)
  t.teardown(() => mock.restoreAll())
  const work = async () => t.fail('it has no lock')
  await t.rejects(withDataLock(data, work), { code: 'Locked', message: /another import is using/ })
  t.ok(fs.existsSync(path), 'the lock of the other one stays')
})

t.test('a stale one is taken over, and gone afterwards', async (t) => {
  const data = temporaryDirectory(t)
  const path = staleLock(data)
  t.equal(
    await withDataLock(data, async ({ assertHeld }) => {
      assertHeld()
      return 'done'
    }),
    'done',
  )
  t.notOk(fs.existsSync(path))
})

t.test('nothing is published without the lock, whose new owner keeps it', async (t) => {
  const data = temporaryDirectory(t)
  const path = join(data, 'import.lock')
  const work = async ({ assertHeld }: { readonly assertHeld: () => void }) => {
    fs.rmdirSync(path)
    fs.mkdirSync(path)
    assertHeld()
    t.fail('it has no lock')
  }
  await t.rejects(withDataLock(data, work), { code: 'Locked', message: /the lock of .* was lost/ })
  t.ok(fs.existsSync(path))
})

t.test('a system that does not say when a directory was made has locks, too', async (t) => {
  const { statSync } = fs
  const untold = ((...args: Parameters<typeof statSync>) => {
    const stats = statSync(...args)
    if (stats !== undefined && 'birthtimeNs' in stats) stats.birthtimeNs = stats.ctimeNs
    return stats
  }) as typeof statSync
  mock.method(fs, 'statSync', untold)
  t.teardown(() => mock.restoreAll())
  // What the system says is found out once.
  const anew = new URL('../../src/snapshot/publish/lock.js?anew', import.meta.url).href
  const { withDataLock: lockData } = (await import(anew)) as { withDataLock: typeof withDataLock }
  const data = temporaryDirectory(t)
  const path = join(data, 'import.lock')
  await lockData(data, async ({ assertHeld }) => {
    await sleep(20)
    fs.chmodSync(path, 0o700)
    assertHeld()
  })
  t.notOk(fs.existsSync(path))
})
