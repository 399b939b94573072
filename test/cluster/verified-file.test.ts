import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BROKEN, writeVerified } from '../../src/cluster/verified-file.js'
import { syncedPaths } from '../support/data/synced-paths.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const bytes = Buffer.from('the bytes of a file')
const digest = {
  sha256: createHash('sha256').update(bytes).digest('hex'),
  byteLength: bytes.length,
}

async function* pieces(...all: readonly Uint8Array[]) {
  yield* all
}

t.test('a file that comes whole is on disk with its name', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'file')
  const synced = await syncedPaths(t)
  let byteCount = 0
  await writeVerified(digest, path, pieces(bytes.subarray(0, 5), bytes.subarray(5)), (more) => {
    byteCount += more
  })
  t.equal(byteCount, bytes.length)
  t.ok(readFileSync(path).equals(bytes))
  t.same(synced, [path, directory])
})

t.test('a file that is not what its digest says is not there', async (t) => {
  const path = join(temporaryDirectory(t), 'file')
  const other = Buffer.from(bytes)
  other[3] ^= 1
  for (const [what, came] of [
    ['another byte', other],
    ['fewer bytes', bytes.subarray(1)],
  ] as const) {
    await t.rejects(
      writeVerified(digest, path, pieces(came), () => {}),
      BROKEN,
      what,
    )
    t.notOk(existsSync(path), what)
  }
})
