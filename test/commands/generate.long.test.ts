import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t from 'tap'

/** What the `hickory` command does around the sub-command, in short. */
const RUNNER = `
  import { generateCommand } from ${JSON.stringify(import.meta.resolve('../../src/commands/generate.js'))}
  import { createLog } from ${JSON.stringify(import.meta.resolve('../../src/log.js'))}
  const command = generateCommand({ dataDirectory: () => '.', log: createLog('info') })
  try {
    await command.parseAsync(process.argv.slice(1), { from: 'user' })
  } catch (error) {
    process.stderr.write(error.code + ': ' + error.message)
    process.exitCode = error.exitCode
  }
`
const nodeArguments = [process.execPath, '--input-type=module', '--eval', RUNNER, '--']
/** Without what tap loads into its children: it listens for signals, and writes files. */
const CLEAN = 'unset NODE_OPTIONS; exec "$0" "$@"'

function start(flags: string): ChildProcessWithoutNullStreams {
  return spawn('/bin/sh', ['-c', CLEAN, ...nodeArguments, ...flags.split(' ')])
}

async function run(flags: string) {
  const child = start(flags)
  const exit = once(child, 'exit')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exitCode: (await exit)[0] as number, stdout, stderr }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

t.test('a file has the header, and the same bytes for the same seed', async (t) => {
  const out = join(t.testdir(), 'r.csv')
  const { exitCode, stdout } = await run(`--recipients 5000 --seed 7 --out ${out}`)
  const bytes = readFileSync(out)
  t.equal(exitCode, 0)
  t.match(stdout, new RegExp(`^wrote 5000 recipients, ${bytes.length} bytes, in .* s: .*r.csv\n$`))
  t.equal(sha256(bytes), '9a54c891f2fa67d142d029e3b59e529599c8b350fccec522199d451999ef9bf7')
  const [header, ...lines] = bytes.toString().trimEnd().split('\n')
  t.equal(header, 'number,lat,lng,contact')
  t.equal(lines.length, 5000)
  const row = /^\+999[0-9]{8,9},-?[0-9]{1,2}(\.[0-9]{1,7})?,-?[0-9]{1,3}(\.[0-9]{1,7})?,c[0-9]+$/
  t.same(
    lines.filter((line) => !row.test(line)),
    [],
  )
  t.same(
    lines.filter((line) => /\.[0-9]*0,/.test(line)),
    [],
    'no zeros at the end of decimals',
  )
  await run(`--recipients 5000 --seed 8 --out ${out}`)
  t.not(sha256(readFileSync(out)), sha256(bytes), 'and replaces a file of another seed')
})

t.test('a name that ends in .gz is compressed, always to the same bytes', async (t) => {
  const folder = t.testdir()
  for (const name of ['a.csv.gz', 'b.csv.gz', 'plain.csv'])
    await run(`--recipients 1000 --countries us,CA --out ${folder}/${name}`)
  const [a, b, plain] = ['a.csv.gz', 'b.csv.gz', 'plain.csv'].map((name) =>
    readFileSync(join(folder, name)),
  )
  t.ok(a.equals(b))
  t.ok(gunzipSync(a).equals(plain))
})

t.test('a dash is standard output, with nothing but the file on it', async (t) => {
  const out = join(t.testdir(), 'r.csv')
  await run(`--recipients 2000 --out ${out}`)
  const { exitCode, stdout } = await run('--recipients 2000 --out -')
  t.equal(exitCode, 0)
  t.equal(stdout, readFileSync(out, 'utf8'))
})

t.test('no recipients are a header', async (t) => {
  t.equal((await run('--recipients 0 --out -')).stdout, 'number,lat,lng,contact\n')
})

t.test('a wrong argument is named', async (t) => {
  const folder = t.testdir()
  for (const [flags, message] of [
    ['--recipients 1e3', '--recipients is an integer from 0 to 1000000000, not "1e3"'],
    ['--recipients -1', 'not "-1"'],
    ['--recipients 1.5', 'not "1.5"'],
    ['--recipients 1000000001', 'not "1000000001"'],
    ['--recipients 1 --seed 4294967296', '--seed is an integer from 0 to 4294967295'],
    ['--recipients 1 --seed x', 'not "x"'],
    ['--recipients 1 --countries US,XX', 'country "XX"'],
    ['--recipients 1 --countries=', 'country ""'],
    [`--recipients 1 --out ${folder}`, 'is a directory'],
  ]) {
    const { exitCode, stderr } = await run(`--out ${folder}/r.csv ${flags}`)
    t.equal(exitCode, 2, flags)
    t.match(stderr, `Usage: `)
    t.match(stderr, message)
  }
  t.same(readdirSync(folder), [])
})

t.test('a folder that is not there is a failure in words', async (t) => {
  const { exitCode, stderr } = await run(`--recipients 1 --out ${t.testdir()}/none/r.csv`)
  t.equal(exitCode, 1)
  t.match(stderr, /Failed: .*r\.csv cannot be written: its directory does not exist/)
})

t.test('a run that is stopped leaves the old file and nothing else', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    for (const name of ['r.csv', 'r.csv.gz']) {
      const folder = t.testdir({ [name]: 'old' })
      const child = start(`--recipients 1000000000 --out ${folder}/${name}`)
      while (readdirSync(folder).length < 2) await new Promise((next) => setTimeout(next, 20))
      child.kill(signal)
      const [exitCode, killedBy] = await once(child, 'exit')
      t.same([exitCode, killedBy], [null, signal])
      t.same(readdirSync(folder), [name])
      t.equal(readFileSync(join(folder, name), 'utf8'), 'old')
    }
})

t.test('a run that is killed outright leaves no half file under the name', async (t) => {
  const folder = t.testdir()
  const child = start(`--recipients 1000000000 --out ${folder}/r.csv`)
  while (readdirSync(folder).length < 1) await new Promise((next) => setTimeout(next, 20))
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.notOk(existsSync(join(folder, 'r.csv')))
})

t.test('a link is kept, and what it points to is replaced', async (t) => {
  const folder = t.testdir()
  mkdirSync(join(folder, 'elsewhere'))
  writeFileSync(join(folder, 'elsewhere/real.csv'), 'old')
  symlinkSync('elsewhere/real.csv', join(folder, 'link.csv'))
  await run(`--recipients 0 --out ${folder}/link.csv`)
  t.equal(readFileSync(join(folder, 'elsewhere/real.csv'), 'utf8'), 'number,lat,lng,contact\n')
  t.same(readdirSync(join(folder, 'elsewhere')), ['real.csv'])
})

t.test('a reader that leaves ends the run without complaint', async (t) => {
  const child = start('--recipients 10000000 --out -')
  const stderr = text(child.stderr)
  child.stdout.once('data', () => child.stdout.destroy())
  const [exitCode] = await once(child, 'exit')
  t.equal(exitCode, 0)
  t.match(await stderr, 'nobody reads standard output')
})

const onLinux = platform() === 'linux' ? {} : { skip: 'needs /dev/full and ulimit' }

t.test('a full device is a failure in words', onLinux, async (t) => {
  const { exitCode, stderr } = await run('--recipients 100000 --out /dev/full')
  t.equal(exitCode, 1)
  t.match(stderr, 'Failed: /dev/full cannot be written, since the disk is full')
})

t.test('a file that cannot grow any more is removed', onLinux, async (t) => {
  const folder = t.testdir()
  const limited = `trap '' XFSZ; ulimit -f 1000; (${CLEAN}) 2>&1 || true`
  const flags = ['--recipients', '100000', '--out', join(folder, 'r.csv')]
  const output = execFileSync('/bin/sh', ['-c', limited, ...nodeArguments, ...flags])
  t.match(output.toString(), /Failed: .*r\.csv would be longer than a file may be here/)
  t.same(readdirSync(folder), [])
})

t.test('the help shows an example', async (t) => {
  const { exitCode, stdout } = await run('--help')
  t.equal(exitCode, 0)
  t.match(stdout, '$ hickory generate --recipients 1000000')
  t.match(stdout, 'GeoNames')
})
