/**
 * A command that stood still for long lost its lock to another one, which removed what it had begun. It then said that a
 * file of its own did not exist, and that its name should be checked.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('who fails without the lock says that it was lost', async (t) => {
  const data = temporaryDirectory(t)
  const work = async () => {
    rmSync(join(data, 'import.lock'), { recursive: true })
    throw new Error('a file does not exist')
  }
  await t.rejects(withDataLock(data, work), { code: 'Locked', message: /the lock of .* was lost/ })
})

t.test('who fails with the lock says why', async (t) => {
  const work = () => Promise.reject(new Error('why'))
  await t.rejects(withDataLock(temporaryDirectory(t), work), { message: 'why' })
})
