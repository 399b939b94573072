import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { storeDirectory } from '../../src/store/tables.js'
import { SAME_ID_EXIT_CODE } from '../../src/store/verify.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const LMDB = import.meta.resolve('lmdb')
const CHECK = fileURLToPath(new URL('../../workers/check-store.js', import.meta.url))

const READER = `
  const [lmdb, directory] = process.argv.slice(1)
  const { open } = await import(lmdb)
  const root = open(directory, { noSubdir: false, encoding: 'binary', maxDbs: 32 })
  root.openDB({ name: 'meta', encoding: 'string' }).get('format')
  process.stdout.write('open')
  setInterval(() => {}, 1_000)
`

/**
 * LMDB knows readers by the ids of their processes, which containers give out anew: both services are process 1. Commands
 * ended with a stack trace of the library then, and `verify` called the areas damaged.
 */
t.test('a store that another process reads under the id of ours is not opened', async (t) => {
  const directory = storeDirectory(temporaryDirectory(t))
  const reader = spawn(process.execPath, ['--input-type=module', '--eval', READER, LMDB, directory])
  t.teardown(() => reader.kill('SIGKILL'))
  await once(reader.stdout, 'data')
  const check = (ownerId: number) => {
    const { status, stdout } = spawnSync(process.execPath, [CHECK, directory, String(ownerId)])
    return [status, stdout.toString()]
  }
  t.same(check(Number(reader.pid)), [SAME_ID_EXIT_CODE, String(reader.pid)])
  t.not(check(process.pid)[0], SAME_ID_EXIT_CODE)
  // As a container that was killed, and whose next process has the same id.
  reader.kill('SIGKILL')
  await once(reader, 'exit')
  t.not(check(Number(reader.pid))[0], SAME_ID_EXIT_CODE)
})
