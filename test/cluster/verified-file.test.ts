import { createHash } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DigestFault, writeVerified } from '../../src/cluster/verified-file.js'
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
  t.same(synced, [`${path}.tmp`, directory])
})

t.test('a file that is not what its digest says is not there', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'file')
  const other = Buffer.from(bytes)
  other[3] ^= 1
  for (const [what, came] of [
    ['another byte', other],
    ['fewer bytes', bytes.subarray(1)],
  ] as const) {
    const written = writeVerified(digest, path, pieces(came), () => {})
    await t.rejects(written, new DigestFault(digest), what)
    t.same(readdirSync(directory), [], what)
  }
})

t.test(
  'a file elsewhere that a fetch has linked before it was killed stays as it is',
  async (t) => {
    const directory = temporaryDirectory(t)
    const [path, elsewhere] = ['file', 'elsewhere'].map((name) => join(directory, name))
    writeFileSync(elsewhere, 'of another snapshot')
    linkSync(elsewhere, `${path}.tmp`)
    await writeVerified(digest, path, pieces(bytes), () => {})
    t.equal(readFileSync(elsewhere, 'utf8'), 'of another snapshot')
    t.ok(readFileSync(path).equals(bytes))
  },
)
