/**
 * A line of the log into a pipe, a socket or a terminal that nobody reads held the process for ever: a service
 * answered nothing, took no import, and SIGTERM did not end it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { peopleIn } from '../follow/followed.js'
import { startPostgres } from '../support/data/postgres-server.js'
import { freePort } from '../support/service/free-port.js'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'
import { until, untilTold } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const LOG = new URL('../../src/log.js', import.meta.url).href

/** Fills standard error, then runs a command and says its process and its exit code. */
const RUN = `timeout 0.5 cat /dev/zero >&2
sh -c 'echo $$ >"$FILES/pid"; exec "$@"' sh "$@"
echo $? >"$FILES/new"; mv "$FILES/new" "$FILES/code"`

/** What becomes of standard error, as a shell makes it. The other end of this test's own is a socket that it does not read. */
const readers = {
  'a pipe': 'sh "$FILES/run" "$@" 2>&1 >/dev/null | sleep 1000',
  'a socket, as of the journal': 'sh "$FILES/run" "$@" >/dev/null',
  'a named pipe':
    'mkfifo "$FILES/fifo"; sleep 1000 <"$FILES/fifo" & sh "$FILES/run" "$@" >/dev/null 2>"$FILES/fifo"',
  'a stopped tee': `sh "$FILES/run" "$@" 2>&1 >/dev/null | sh -c 'kill -STOP $$; exec tee /dev/null'`,
  'a terminal that stands still': 'script -qec "sh \\"\\$FILES/run\\" $* >/dev/null" /dev/null',
  'a pipe, as does standard output': 'sh "$FILES/run" "$@" 2>&1 | sleep 1000',
  'a full disk': 'sh "$FILES/run" "$@" >/dev/null 2>/dev/full',
  'a reader that is gone': 'sh "$FILES/run" "$@" 2>&1 >/dev/null | true',
} as const
type Reader = keyof typeof readers

interface Unread {
  signal(name: NodeJS.Signals): void
  /** The exit code, when it has ended, which a signal must bring about within the default. */
  ended(waitMs?: number): Promise<number>
}

function unread(t: Test, reader: Reader, ...args: readonly string[]): Unread {
  const FILES = temporaryDirectory(t)
  writeFileSync(join(FILES, 'run'), RUN)
  const child = spawn('sh', ['-c', readers[reader], 'sh', process.execPath, CLI, ...args], {
    env: { ...process.env, FILES, HICKORY_HTTP_THREADS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const pid = () => Number(readFileSync(join(FILES, 'pid'), 'utf8'))
  const code = join(FILES, 'code')
  t.teardown(() => {
    if (!existsSync(code)) process.kill(pid(), 'SIGKILL')
    try {
      process.kill(-(child as ChildProcess & { pid: number }).pid, 'SIGKILL')
    } catch {
      // All of them have ended.
    }
  })
  return {
    signal: (name) => process.kill(pid(), name),
    async ended(waitMs = limits.stopMs) {
      await until(() => existsSync(code), waitMs)
      return Number(readFileSync(code, 'utf8'))
    },
  }
}

/** For what ends by itself, on a busy machine. */
const WORK_MS = 120_000

const rows = (count: number) =>
  `number,lat,lng\n${Array.from({ length: count }, (_, at) => `+9991${at},1,2\n`).join('')}`

/** Imports by a command whose output is read. */
async function filled(t: Test): Promise<{ readonly data: string; readonly file: string }> {
  const data = temporaryDirectory(t)
  const file = join(temporaryDirectory(t), 'rows.csv')
  writeFileSync(file, rows(2))
  await hickory(...imported(data, file))
  return { data, file }
}

const imported = (data: string, file: string) =>
  ['import', '--data', data, '--source', '1', '--label', 'x', file] as const

/** A pipe, a socket, a terminal and a file are written to in different ways. */
const different: readonly Reader[] = [
  'a pipe',
  'a socket, as of the journal',
  'a terminal that stands still',
  'a full disk',
]

for (const reader of byTier({ ci: different, soak: Object.keys(readers) as Reader[] })) {
  t.test(`a service whose log goes to ${reader}`, async (t) => {
    const { data, file } = await filled(t)
    const port = await freePort()
    const service = unread(t, reader, 'serve', '--data', data, '--port', String(port))
    const url = `http://127.0.0.1:${port}`
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await untilTold(isReady, 60_000)
    writeFileSync(file, rows(3))
    t.equal(await unread(t, reader, ...imported(data, file)).ended(WORK_MS), 0, 'an import ends')
    const body = JSON.stringify({ bbox: [-180, -90, 180, 90], countsOnly: true })
    const request = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }
    const count = async () => (await fetch(`${url}/api/recipients`, request)).text()
    await untilTold(async () => (await count()).includes('"Count":3'))
    t.equal((await fetch(`${url}/livez`)).status, 200)
    service.signal('SIGTERM')
    t.equal(await service.ended(), 0)
  })
}

t.test('other commands whose log goes to a pipe', async (t) => {
  const { data } = await filled(t)
  const changes = join(temporaryDirectory(t), 'changes.ndjson')
  writeFileSync(changes, '{"op":"upsert","number":"+99917","lat":1,"lng":2,"contact":"a"}\n')
  const areas = join(temporaryDirectory(t), 'areas.geojson')
  const geometry = {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ],
  }
  const feature = { type: 'Feature', properties: { id: 'a', name: 'A' }, geometry }
  writeFileSync(areas, JSON.stringify({ type: 'FeatureCollection', features: [feature] }))
  for (const args of [
    ['doctor', '--data', data],
    ['apply', '--data', data, '--source', '1', changes],
    ['areas', 'import', '--data', data, '--layer', 'own', '--key', 'id', '--name', 'name', areas],
    ['verify', '--data', data],
    ['backup', '--data', data, join(temporaryDirectory(t), 'backup.tar')],
  ]) {
    t.equal(await unread(t, 'a pipe', ...args).ended(WORK_MS), 0, args.join(' '))
  }
})

t.test('a table is followed by a command whose output goes to a pipe', async (t) => {
  const server = await startPostgres(t, ['wal_level=logical'])
  await server.run(`CREATE TABLE people (id int PRIMARY KEY, phone text, lat float8, lng float8);
    INSERT INTO people SELECT i, '+99955' || i, 1, 2 FROM generate_series(1, 5) i`)
  const data = temporaryDirectory(t)
  const flags = ['--table', 'people', '--source', '1', '--label', 'x', '--initial-copy']
  const reader = 'a pipe, as does standard output'
  const follow = unread(t, reader, 'follow', server.url(), ...flags, '--data', data)
  const count = async () => (await peopleIn(data).catch(() => new Map())).size
  await untilTold(async () => (await count()) === 5)
  const insert = (id: number) =>
    server.run(`INSERT INTO people VALUES (${id}, '+99956${id}', 1, 2)`)
  await insert(6)
  await untilTold(async () => (await count()) === 6)
  // What it has to say about that finds no room.
  await server.restart()
  await insert(7)
  await untilTold(async () => (await count()) === 7)
  follow.signal('SIGTERM')
  t.equal(await follow.ended(), 0)
})

t.test('lines are whole, those that are dropped are counted, and the last ones come', async (t) => {
  const program = `
    import { createLog, droppedLogLineCount } from '${LOG}'
    const log = createLog('info')
    for (let at = 0; at < 3000; at++) log.info({ at, filler: 'ü'.repeat(500) }, 'a line')
    process.stdout.write('waits')
    process.stdin.once('data', () => setTimeout(() => {
      log.fatal({ count: droppedLogLineCount() }, 'the last line')
      process.exit(1)
    }, 1000))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const [written] = await Promise.all([text(child.stderr), child.stdin.write('now')])
  const lines = written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  // On a busy machine the second one comes before there is room for the first one.
  const [told, last] = lines.slice(-2).toSorted((a, b) => a.level - b.level)
  const { count } = last
  t.equal(lines.filter(({ msg }) => msg === 'a line').length + count, 3000)
  t.ok(count > 0)
  t.match(told, { level: 40, droppedCount: count, msg: 'lines of the log were dropped' })
  t.match(last, { level: 60, msg: 'the last line' })
})

t.test('a fatal line holds no process whose reader is gone, or whose disk is full', async (t) => {
  const program = `
    import { createLog } from '${LOG}'
    const log = createLog('info')
    process.stdin.once('data', () => {
      log.fatal('the last line')
      process.exit(3)
    })`
  for (const error of ['pipe', openSync('/dev/full', 'w')] as const) {
    const args = ['--input-type=module', '-e', program]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', error] })
    t.teardown(() => child.kill('SIGKILL'))
    child.stderr?.destroy()
    child.stdin?.write('now')
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(WORK_MS) })
    t.equal(code, 3)
  }
})
