import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ROWS = 'number,lat,lng\n+9995550101,29.7,-95.3\n'
const PROGRAM = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
/** ä in Latin-1. Node.js can pass no such argument on, but a shell can. */
const AE = "$(printf '\\344')"
const onLinux = { skip: process.platform === 'linux' ? false : 'names are Unicode elsewhere' }

/** "does not exist" was said of a file that does, and --data made another directory than was named. */
t.test('a name that is not UTF-8 is told to be that', onLinux, async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'good.csv'), ROWS)
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/l`), Buffer.of(0xe4, 0x2e)]), ROWS)
  const named = readdirSync(directory).length
  const source = '--source 1 --label A'
  for (const args of [
    `import --data data ${source} l${AE}.`,
    `import --data d${AE} ${source} good.csv`,
    `import --data=d${AE} ${source} good.csv`,
    `apply --data data --source 1 l${AE}.`,
    `suppress --data data l${AE}.`,
    `serve --data d${AE} --port 0`,
  ]) {
    const command = `cd "$0" && "$1" "$2" ${args}`
    const argv = ['-c', command, directory, process.execPath, PROGRAM]
    const { status, stderr } = spawnSync('sh', argv, { encoding: 'utf8', timeout: 60_000 })
    t.equal(status, 2, args)
    t.match(stderr, /^hickory: \S+ is not UTF-8 where \ufffd stands: give .* another name/, args)
    t.equal(readdirSync(directory).length, named, 'nothing is made')
  }
  const data = ['--data', join(directory, 'data'), '--source', '1', '--label', 'A']
  for (const pattern of [join(directory, '*.'), join(directory, 'l*')]) {
    const { code, stderr } = await hickoryHere('import', ...data, pattern)
    t.equal(code, 5)
    t.ok(stderr.includes(`${pattern} matches a file whose name is not UTF-8`), stderr)
  }
})

t.test('a name that truly has the character is taken', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'caf\ufffd.csv')
  writeFileSync(path, ROWS)
  const source = ['--source', '1', '--label', 'A']
  const { code } = await hickoryHere('import', '--data', join(directory, 'd'), ...source, path)
  t.equal(code, 0)
})
