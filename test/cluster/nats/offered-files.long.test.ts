/**
 * Files in a real object store of NATS, under the SHA-256 of what is in them.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ClusterFiles, digestOfFile } from '../../../src/cluster/nats/cluster-files.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { Opened } from '../../../src/cluster/nats/opened.js'
import { SharedFiles } from '../../../src/cluster/shared-files.js'
import { silentLog } from '../../support/data/store.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { connected } from '../support/connected.js'
import { startNatsServer } from '../support/nats-servers.js'

t.test('files', async (t) => {
  const nats = await startNatsServer(t)
  const files = await ClusterFiles.open(await connected(t, nats), namesOf('main'))
  const directory = temporaryDirectory(t)
  const [path, damaged, got] = ['whole', 'damaged', 'got'].map((name) => join(directory, name))
  // Several pieces.
  const bytes = randomBytes(1_300_000)
  writeFileSync(path, bytes)
  const digest = await digestOfFile(path)
  bytes[700_000] ^= 1
  writeFileSync(damaged, bytes)

  await t.test('one that is not what its name says is not there', async (t) => {
    await t.rejects(files.put(damaged, digest), { message: /other bytes under/ })
    t.equal(await files.has(digest), false)
    t.equal(await files.get(digest, got), false)
    t.notOk(existsSync(got))
  })

  await t.test('one that is comes back as it was', async (t) => {
    await files.put(path, digest)
    t.equal(await files.has(digest), true)
    t.equal(await files.has({ ...digest, byteLength: digest.byteLength - 1 }), false)
    t.equal(await files.get(digest, got), true)
    t.ok(readFileSync(got).equals(readFileSync(path)))
    // It is there already, so that nothing is read.
    await files.put(damaged, digest)
    t.equal(await files.copyCount(), 1, 'of one server')
    await files.remove(digest)
    t.equal(await files.has(digest), false)
  })

  await t.test('a machine gives its file of an audience, unless that is damaged', async (t) => {
    const offering = (from: string | undefined, awaited: readonly (typeof digest)[] = []) =>
      new SharedFiles({
        dataDirectory: directory,
        files: new Opened(async () => files),
        log: silentLog,
        offered: async () => false,
        audiences: { pathOf: () => from, awaited: () => awaited },
      })
    t.equal(await offering(undefined).offer(digest), false)
    t.equal(await offering(join(directory, 'none')).offer(digest), false)
    t.equal(await offering(damaged).offer(digest), false)
    t.equal(await files.has(digest), false)
    t.equal(await offering(path).offer(digest), true)
    t.equal(await files.has(digest), true)
  })
})
