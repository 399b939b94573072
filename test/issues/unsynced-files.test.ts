/**
 * What is written once and read for ever is on disk before it has its name, and the default gazetteer, which comes with
 * the program, is made anew where it is damaged.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { RejectsFile } from '../../src/commands/import/rejects-file.js'
import { secretOutput } from '../../src/commands/keys/secret-output.js'
import { StateFile } from '../../src/follow/state.js'
import {
  areasDirectory,
  readCurrentAreas,
  versionDirectory,
} from '../../src/gazetteer/directory.js'
import { makeDefaultAreas } from '../../src/gazetteer/make-default.js'
import { verifyVersion } from '../../src/gazetteer/verify.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { createLog } from '../../src/log.js'
import { startAreas } from '../../src/serve/service-areas.js'
import { syncedPaths } from '../support/data/synced-paths.js'
import { type Owner, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const log = createLog('silent')

async function started(t: Owner, data: string) {
  const areas = await startAreas(data, log, { pollMs: 5, retryMs: 10 })
  t.teardown(() => areas.stop())
  return areas
}

t.test('all files of the default gazetteer are on disk before it is current', async (t) => {
  const data = temporaryDirectory(t)
  const synced = await syncedPaths(t)
  await makeDefaultAreas(data)
  const draft = join(areasDirectory(data), 'new.tmp')
  for (const name of ['manifest.json', 'data.mdb', 'lock.mdb']) {
    t.ok(synced.includes(join(draft, name)), name)
  }
  t.ok(synced.indexOf(join(draft, 'manifest.json')) < synced.indexOf(draft))
})

t.test('a default gazetteer that is damaged is made anew', async (t) => {
  const whole = temporaryDirectory(t)
  await makeDefaultAreas(whole)
  const version = readCurrentAreas(whole) ?? ''
  const damages = {
    'an empty manifest': (at: string) => writeFileSync(join(at, 'manifest.json'), ''),
    'half a manifest': (at: string) => writeFileSync(join(at, 'manifest.json'), '{"format":1,'),
    'no manifest': (at: string) => rmSync(join(at, 'manifest.json')),
    'empty areas': (at: string) => writeFileSync(join(at, 'data.mdb'), ''),
    'nothing at all': (at: string) => rmSync(at, { recursive: true }),
    'no CURRENT': (at: string) => rmSync(join(dirname(at), 'CURRENT')),
  }
  for (const [what, damage] of Object.entries(damages)) {
    const data = temporaryDirectory(t)
    cpSync(areasDirectory(whole), areasDirectory(data), { recursive: true })
    damage(versionDirectory(data, version))
    const { news } = await started(t, data)
    t.same(news, { version }, what)
    await t.resolves(verifyVersion(data, version), what)
  }
})

t.test('one that another process was making when it died is made later', async (t) => {
  const data = temporaryDirectory(t)
  const lock = join(areasDirectory(data), 'import.lock')
  mkdirSync(lock, { recursive: true })
  const areas = await started(t, data)
  t.same(areas.news, {})
  areas.follow([])
  rmSync(lock, { recursive: true })
  await until(() => areas.news.version !== undefined)
})

t.test('directories and names are on disk, too', async (t) => {
  const directory = temporaryDirectory(t)
  const synced = await syncedPaths(t)
  const isLast = (path: string) => synced.at(-1) === path

  const secret = secretOutput(join(directory, 'key'))
  secret.write('secret')
  t.ok(isLast(directory), 'of a secret')
  secret.close()

  const rejects = new RejectsFile(join(directory, 'rejects.csv'), [])
  rejects.finish()
  t.ok(isLast(directory), 'of rejected rows')

  const state = new StateFile(directory, 1)
  const lsn = { systemId: '1', slot: 'slot', table: 'people', confirmedLsn: 1n }
  state.write(lsn)
  t.ok(isLast(join(directory, 'follow')), 'of what is followed')
  t.ok(synced.includes(directory))
  state.remove()
  t.ok(isLast(join(directory, 'follow')), 'of what is followed no more')

  const journal = join(directory, 'data', 'journal')
  const writer = new JournalWriter({ directory: journal })
  writer.prepare()
  await writer.release()
  t.ok(existsSync(join(journal, 'head', 'data.mdb')))
  for (const path of [directory, join(directory, 'data'), journal, join(journal, 'head')]) {
    t.ok(synced.lastIndexOf(path) >= 0, path.slice(directory.length))
  }
})
