/**
 * A line of the log into a pipe, a socket or a terminal that nobody reads held the process for ever: a service
 * answered nothing, took no import, and SIGTERM did not end it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
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

/** Fills standard error, then runs a command and says its process and its exit code. The shell itself says nothing there. */
const RUN = `timeout "\${FILL_S:-0.5}" cat /dev/zero >&2
exec 3>&2 2>/dev/null
sh -c 'echo $$ >"$FILES/pid"; exec "$@" 2>&3 3>&-' sh "$@"
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

/** The same of standard output and standard error together. */
const readersOfBoth: Readonly<Record<Reader, string>> = {
  ...readers,
  'a pipe': 'sh "$FILES/run" "$@" 2>&1 | sleep 1000',
  'a socket, as of the journal': 'sh "$FILES/run" "$@" >&2',
  'a named pipe':
    'mkfifo "$FILES/fifo"; sleep 1000 <"$FILES/fifo" & sh "$FILES/run" "$@" >"$FILES/fifo" 2>&1',
  'a stopped tee': `sh "$FILES/run" "$@" 2>&1 | sh -c 'kill -STOP $$; exec tee /dev/null'`,
  'a terminal that stands still': 'script -qec "sh \\"\\$FILES/run\\" $*" /dev/null',
  'a full disk': 'sh "$FILES/run" "$@" >/dev/full 2>&1',
  'a reader that is gone': 'sh "$FILES/run" "$@" 2>&1 | true',
}

interface Unread {
  signal(name: NodeJS.Signals): void
  hasEnded(): boolean
  /** The exit code, when it has ended, which a signal must bring about within the default. */
  ended(waitMs?: number): Promise<number>
}

function unread(t: Test, reader: Reader, ...args: readonly string[]): Unread {
  return unreadBy(t, readers[reader], args)
}

function unreadBy(
  t: Test,
  shell: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Unread {
  const FILES = temporaryDirectory(t)
  writeFileSync(join(FILES, 'run'), RUN)
  const child = spawn('sh', ['-c', shell, 'sh', process.execPath, CLI, ...args], {
    env: { ...process.env, FILES, HICKORY_HTTP_THREADS: '1', ...env },
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
    hasEnded: () => existsSync(code),
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

const RING = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
]
const LAYER = JSON.stringify({
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: { id: 'a', name: 'A' },
      geometry: { type: 'Polygon', coordinates: [RING] },
    },
  ],
})

t.test('other commands whose log goes to a pipe', async (t) => {
  const { data } = await filled(t)
  const changes = join(temporaryDirectory(t), 'changes.ndjson')
  writeFileSync(changes, '{"op":"upsert","number":"+99917","lat":1,"lng":2,"contact":"a"}\n')
  const areas = join(temporaryDirectory(t), 'areas.geojson')
  writeFileSync(areas, LAYER)
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

interface World {
  readonly data: string
  /** For what a command makes. */
  readonly work: string
}

interface Called {
  args(world: World): readonly string[]
  /** Whether what it prints is what it is called for, so that it waits for the reader. */
  readonly prints?: true
  /** Unless it is 0. */
  readonly code?: number
}

const files = temporaryDirectory(t)
const [csv, changes, layer, numbers, audit, packed] = [
  'rows.csv',
  'changes.ndjson',
  'areas.geojson',
  'numbers.txt',
  'audit',
  'old.tar',
].map((name) => join(files, name)) as [string, string, string, string, string, string]
const ofSource = ({ data }: World) => ['--data', data, '--source', '1']

/** Every command, in the forms that do different things. Those that go on until they are told to stop are tried above. */
const table: Readonly<Record<string, Called>> = {
  import: { args: (world) => ['import', ...ofSource(world), csv] },
  // It warns that the label is another one.
  'import, warning': { args: (world) => ['import', ...ofSource(world), '--label', 'z', csv] },
  'import --json': { args: (world) => ['import', ...ofSource(world), '--json', csv] },
  'import --all': { args: ({ data }) => ['import', '--data', data, '--all', join(files, 'all')] },
  'import --dry-run': {
    args: (world) => ['import', ...ofSource(world), '--dry-run', csv],
    prints: true,
  },
  'import, held back': {
    args: (world) => ['import', ...ofSource(world), '--min-rows', '99', csv],
    code: 11,
  },
  apply: { args: (world) => ['apply', ...ofSource(world), changes] },
  compact: { args: ({ data }) => ['compact', '--data', data] },
  remove: { args: ({ data }) => ['remove', '--data', data, '--source', '2'] },
  suppress: { args: ({ data }) => ['suppress', '--data', data, '--audit', audit, numbers] },
  'suppress --list': { args: ({ data }) => ['suppress', '--data', data, '--list'], prints: true },
  rollback: { args: ({ data }) => ['rollback', '--data', data] },
  inspect: { args: ({ data }) => ['inspect', '--data', data, 'current'], prints: true },
  verify: { args: ({ data }) => ['verify', '--all', '--data', data], prints: true },
  doctor: { args: ({ data }) => ['doctor', '--data', data], prints: true },
  'doctor --self-test': { args: () => ['doctor', '--self-test'], prints: true },
  backup: { args: ({ data, work }) => ['backup', '--data', data, join(work, 'new.tar')] },
  restore: { args: ({ work }) => ['restore', '--data', join(work, 'restored'), packed] },
  'areas import': {
    args: ({ data }) => ['areas', 'import', '--data', data, '--layer', 'b', '--key', 'id', layer],
  },
  'areas list': { args: ({ data }) => ['areas', 'list', '--data', data], prints: true },
  'areas remove': { args: ({ data }) => ['areas', 'remove', '--data', data, 'own'] },
  'keys create': {
    args: ({ data }) => ['keys', 'create', '--data', data, '--name', 'a', '--scopes', 'counts'],
    prints: true,
  },
  'audit show': { args: () => ['audit', 'show', audit], prints: true },
  'audit verify': { args: () => ['audit', 'verify', audit], prints: true },
  'cluster status': {
    args: () => ['cluster', 'status', '--cluster', 'nats://127.0.0.1:1'],
    code: 1,
  },
  generate: {
    args: ({ work }) => ['generate', '--recipients', '9', '--out', join(work, 'made.csv')],
  },
  'generate to standard output': {
    args: () => ['generate', '--recipients', '100000', '--out', '-'],
    prints: true,
  },
  completion: { args: () => ['completion', 'bash'], prints: true },
  'a wrong option': { args: () => ['import', '--wrong'], code: 2 },
}

/** What all commands of the table begin with. */
async function base(t: Test): Promise<string> {
  const { data } = await filled(t)
  writeFileSync(csv, rows(2))
  await hickory('import', '--data', data, '--source', '2', '--label', 'y', csv)
  writeFileSync(csv, rows(3))
  await hickory('import', '--data', data, '--source', '2', csv)
  writeFileSync(changes, '{"op":"upsert","number":"+99917","lat":1,"lng":2}\n')
  writeFileSync(layer, LAYER)
  writeFileSync(numbers, '+99910\n')
  const all = { sources: [{ id: 1, label: 'x', files: [csv] }] }
  writeFileSync(join(files, 'all'), JSON.stringify(all))
  await hickory('areas', 'import', '--data', data, '--layer', 'own', '--key', 'id', layer)
  await hickory('suppress', '--data', data, '--audit', audit, numbers)
  await hickory('backup', '--data', data, packed)
  return data
}

const cells = byTier<readonly (readonly [string, Reader])[]>({
  ci: [
    ['import', 'a pipe'],
    ['import, warning', 'a reader that is gone'],
    ['import, held back', 'a full disk'],
    ['verify', 'a socket, as of the journal'],
  ],
  soak: Object.keys(table).flatMap((name) =>
    (Object.keys(readers) as Reader[]).map((reader) => [name, reader] as const),
  ),
})

t.test('all output of a command goes to the same reader', async (t) => {
  const before = await base(t)
  const open = [...cells]
  const lanes = Array.from({ length: LANE_COUNT }, async () => {
    for (let cell = open.shift(); cell !== undefined; cell = open.shift()) {
      const [name, reader] = cell
      const { args, prints, code = 0 } = table[name] as Called
      const world = { data: temporaryDirectory(t), work: temporaryDirectory(t) }
      cpSync(before, world.data, { recursive: true })
      const fill = { FILL_S: '2' }
      const run = unreadBy(t, readersOfBoth[reader], args(world), fill)
      const startedMs = performance.now()
      // Longer than its work takes, and what it gives its reader.
      const isOver = () => run.hasEnded() || performance.now() - startedMs > WORKED_MS
      await until(isOver, WORK_MS)
      const waits = !run.hasEnded()
      const signalledMs = performance.now()
      if (waits) run.signal('SIGTERM')
      const found = await run.ended()
      const seconds = ((performance.now() - (waits ? signalledMs : startedMs)) / 1_000).toFixed(1)
      const how = waits ? `${seconds} s after SIGTERM` : `by itself, after ${seconds} s`
      // What a command is for was done, but not printed: on a full disk it says so.
      const unprinted = reader === 'a full disk' && code === 0 ? 1 : code
      const expected = waits && prints ? 143 : unprinted
      t.equal(found, expected, `${name}, ${reader}: ${found} ${how}`)
      if (prints === undefined) t.notOk(waits, `${name}, ${reader}: it waits for nobody`)
    }
  })
  await Promise.all(lanes)
})

const LANE_COUNT = 4
const WORKED_MS = 25_000

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
