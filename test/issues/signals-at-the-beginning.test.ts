import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../support/service/hickory.js'

// A signal between the making of a draft and the code that removes it on exit left the draft.

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

/** Sends itself a signal as soon as a draft is there, before the program goes on. */
const PRELOADED = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
const { mkdirSync, promises: { mkdir } } = fs
const strike = (path) => /(\\d|new)\\.tmp$/.test(path) && process.kill(process.pid, 'SIGTERM')
fs.mkdirSync = (path, ...rest) => {
  const made = mkdirSync(path, ...rest)
  strike(path)
  return made
}
fs.promises.mkdir = async (path, ...rest) => {
  const made = await mkdir(path, ...rest)
  if (strike(path)) await sleep(1_000)
  return made
}
syncBuiltinESMExports()
`

const directory = temporaryDirectory(t)
const preloaded = join(directory, 'strike.mjs')
writeFileSync(preloaded, PRELOADED)

const struck = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--import', preloaded, CLI, ...args], { encoding: 'utf8' })

t.test('of an import', async (t) => {
  const data = join(directory, 'recipients')
  mkdirSync(data)
  const file = join(directory, 'rows.csv')
  writeFileSync(file, 'number,lat,lng\n+9991,1,2\n')
  const { status, stderr } = struck('import', '--data', data, '--source', '1', '--label', 'a', file)
  t.equal(status, 143, stderr)
  t.same(readdirSync(join(data, 'snapshots')), [])
})

t.test('of an import of areas', async (t) => {
  const data = join(directory, 'areas-of')
  mkdirSync(data)
  const file = join(directory, 'areas.geojson')
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ]
  const geometry = { type: 'Polygon', coordinates: [ring] }
  writeFileSync(file, JSON.stringify({ type: 'Feature', properties: { id: 'a' }, geometry }))
  const flags = ['--layer', 'own', '--key', 'id', '--data', data]
  const { status, stderr } = struck('areas', 'import', ...flags, file)
  t.equal(status, 143, stderr)
  t.same(readdirSync(join(data, 'areas')), [])
})
