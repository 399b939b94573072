/**
 * Every command that takes long, in the midst of its work, and every signal that may come: it does what the page says,
 * leaves data as they were, and can be called again. SIGUSR1 opens no debugger.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  constants as fsConstants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { commands } from '../../src/commands/all.js'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory } from '../../src/journal/files.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { fingerprint } from '../support/data/snapshots.js'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** What a command works with. */
interface World {
  readonly data: string
  /** Where it is called, and where its temporary files go. */
  readonly work: string
}

interface Command {
  /** Column of the page. */
  readonly column: 'serve' | 'follow' | 'other commands'
  args(world: World): readonly string[]
  /** Whether it is in the midst of its work. */
  isHeld(world: World, run: Run): boolean
  /** Written to its standard input, which stays open. */
  readonly input?: string
  prepare?(world: World): void
  /** What lets the same command come to its end. */
  release?(world: World): void
  /** Whether it changes something when it comes to its end, which it must do afterwards; or what is called for it. */
  readonly changes?: true | readonly string[]
  /** It may be over before the signal comes. */
  readonly mayBeOver?: true
}

/** So often a signal that came too late is tried again. */
const LATE_COUNT = 5

const HEADER = 'number,lat,lng\n'
const MANY_ROWS = HEADER + '+9991,1,2\n'.repeat(20_000)
const named = (directory: string, pattern: RegExp) =>
  existsSync(directory) && readdirSync(directory).some((name) => pattern.test(name))
const isDrafting = ({ data }: World) => named(join(data, 'snapshots'), /\.tmp$/)

/** A program zstd that takes nothing holds what packs with it. */
const holdZstd = ({ work }: World) => {
  writeFileSync(join(work, 'zstd'), '#!/bin/sh\nexec sleep 1000\n')
  chmodSync(join(work, 'zstd'), 0o700)
}
const releaseZstd = ({ work }: World) => rmSync(join(work, 'zstd'))
/** A pipe in the place of a file holds what reads it. */
const holdPins = ({ data }: World) => {
  execFileSync('mkfifo', [join(data, 'pins.json')])
}
const releasePins = ({ data }: World) => rmSync(join(data, 'pins.json'))
/** As of a compaction that is not over for long. */
const locksOf = (data: string) => ['import.lock', 'compaction.lock'].map((name) => join(data, name))
const holdLock = (lock: string) => {
  mkdirSync(lock)
  utimesSync(lock, FAR_S, FAR_S)
}
const FAR_S = Date.now() / 1_000 + 3_600
const waitsForPins = ({ data }: World, run: Run) => run.opens(join(data, 'pins.json'))

const POLYGONS = JSON.stringify({
  type: 'FeatureCollection',
  features: Array.from({ length: 3_000 }, (_, at) => {
    const [lng, lat] = [(at % 300) / 2, Math.floor(at / 300) / 2]
    const ring = [
      [lng, lat],
      [lng + 0.4, lat],
      [lng + 0.4, lat + 0.4],
      [lng, lat],
    ]
    const geometry = { type: 'Polygon', coordinates: [ring] }
    return { type: 'Feature', properties: { id: `${at}` }, geometry }
  }),
})
const areas = (world: World, ...more: string[]) => {
  const file = join(world.work, 'areas.geojson')
  return ['areas', 'import', '--layer', 'own', '--key', 'id', ...more, file]
}
const writePolygons = ({ work }: World) => writeFileSync(join(work, 'areas.geojson'), POLYGONS)

/** A server that says nothing. */
let connectionCount = 0
const mute = createServer((socket) => {
  connectionCount++
  socket.on('error', () => {})
}).listen(0, '127.0.0.1')
await once(mute, 'listening')
const mutePort = (mute.address() as AddressInfo).port
t.teardown(() => mute.close())

const table: Readonly<Record<string, Command>> = {
  import: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['import', '--data', data, '--source', '1', '--max-shrink', '100%', '-'],
    input: MANY_ROWS,
    isHeld: ({ data }) => existsSync(join(data, 'snapshots/spool.tmp')),
  },
  'import --dry-run': {
    column: 'other commands',
    args: ({ data }) => [
      'import',
      '--data',
      data,
      '--source',
      '1',
      '--max-shrink',
      '100%',
      '--dry-run',
      '-',
    ],
    input: MANY_ROWS,
    isHeld: ({ work }) => named(work, /^hickory-import-/),
  },
  'import of a database': {
    column: 'other commands',
    args: ({ data }) => [
      ...[
        'import',
        '--data',
        data,
        '--source',
        '1',
        '--query',
        'select 1',
        '--rejects',
        'rejects.csv',
      ],
      ...['--from', `postgres://a@127.0.0.1:${mutePort}/b?sslmode=disable`],
    ],
    isHeld: ({ data }, run) => existsSync(join(data, 'import.lock')) && run.isConnected(),
  },
  apply: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['apply', '--data', data, '--source', '1', '-'],
    // More than a pipe has room for.
    input: '{"op":"upsert","number":"+9993","lat":1,"lng":2}\n'.repeat(10_000),
    isHeld: ({ data }, run) => existsSync(join(data, 'import.lock')) && run.hasRead,
  },
  remove: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['remove', '--data', data, '--source', '2'],
    isHeld: isDrafting,
    mayBeOver: true,
  },
  compact: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['compact', '--data', data],
    isHeld: isDrafting,
    mayBeOver: true,
  },
  suppress: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['suppress', '--data', data, '-'],
    input: '+9991\n'.repeat(200_000),
    isHeld: (_, run) => run.hasRead,
  },
  rollback: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['rollback', '--data', data],
    prepare({ data }) {
      for (const lock of locksOf(data)) holdLock(lock)
    },
    release({ data }) {
      for (const lock of locksOf(data)) rmSync(lock, { recursive: true })
    },
    isHeld: (_, run) => run.output.includes('waiting for its end'),
  },
  verify: {
    column: 'other commands',
    args: ({ data }) => ['verify', '--all', '--data', data],
    prepare: holdPins,
    release: releasePins,
    isHeld: waitsForPins,
  },
  inspect: {
    column: 'other commands',
    args: ({ data }) => ['inspect', '--data', data],
    prepare: holdPins,
    release: releasePins,
    isHeld: waitsForPins,
  },
  'areas import': {
    column: 'other commands',
    changes: true,
    args: (world) => areas(world, '--data', world.data),
    prepare: writePolygons,
    isHeld: ({ data }) => existsSync(join(data, 'areas/new.tmp/draft/data.mdb')),
  },
  'areas import --dry-run': {
    column: 'other commands',
    args: (world) => areas(world, '--dry-run'),
    prepare: writePolygons,
    isHeld: ({ work }) => named(work, /^hickory-areas-/),
  },
  backup: {
    column: 'other commands',
    changes: true,
    args: ({ data }) => ['backup', '--data', data, 'new.tar.zst'],
    prepare: holdZstd,
    release: releaseZstd,
    isHeld: ({ work }) => named(work, /^new\.tar\.zst\..*tmp$/),
  },
  restore: {
    column: 'other commands',
    changes: true,
    args: () => ['restore', '--data', 'restored', 'old.tar.zst'],
    prepare(world) {
      // The head tells how it is packed.
      const packed = ['backup', '--data', world.data, join(world.work, 'old.tar.zst')]
      execFileSync(process.execPath, [CLI, ...packed, '--quiet'], { stdio: 'ignore' })
      holdZstd(world)
    },
    release: releaseZstd,
    isHeld: ({ work }) => named(work, /^restored\..*tmp$/),
  },
  generate: {
    column: 'other commands',
    args: () => ['generate', '--recipients', '1000000000', '--out', 'made.csv'],
    isHeld: ({ work }) => named(work, /\.part$/),
    changes: ['generate', '--recipients', '10', '--out', 'made.csv'],
  },
  cap: {
    column: 'other commands',
    args: () => ['cap', '-'],
    input: ' '.repeat(400_000),
    isHeld: (_, run) => run.hasRead,
  },
  'cluster status': {
    column: 'other commands',
    args: () => ['cluster', 'status', '--cluster', `nats://127.0.0.1:${mutePort}`],
    isHeld: (_, run) => run.isConnected(),
  },
  serve: {
    column: 'serve',
    args: ({ data }) => [
      'serve',
      '--data',
      data,
      '--port',
      '0',
      '--http-threads',
      '1',
      '--query-threads',
      '1',
    ],
    isHeld: (_, run) => run.output.includes('"msg":"ready"'),
  },
}

/** They change or print something small. */
const SHORT = ['pin', 'unpin', 'accept', 'keys', 'audit', 'completion']

/** The shell says 128 and the number of a signal. */
class Run {
  readonly child: ChildProcess
  readonly #ended: Promise<number>
  readonly #connectedBefore = connectionCount
  readonly #files: number[] = []
  output = ''
  hasRead = false

  constructor(args: readonly string[], { work }: World, input?: string) {
    const { NODE_OPTIONS: _, ...others } = process.env
    const path = `${work}:${others.PATH}`
    this.child = spawn(
      'sh',
      ['-c', 'ulimit -c 0; exec "$0" "$@"', process.execPath, CLI, ...args],
      {
        cwd: work,
        env: { ...others, PATH: path, TMPDIR: work },
      },
    )
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (text) => {
        this.output += text
      })
    }
    this.child.stdin?.on('error', () => {})
    if (input !== undefined) {
      this.child.stdin?.write(input, () => {
        this.hasRead = true
      })
    }
    this.#ended = once(this.child, 'close').then(([code, signal]) => {
      this.close()
      return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? Number.NaN)
    })
    t.teardown(() => this.child.kill('SIGKILL'))
  }

  get pid(): number {
    return this.child.pid as number
  }

  /** By its number, since some have no name. */
  signal(number: number): void {
    if (!this.hasEnded()) process.kill(this.pid, number)
  }

  /** Its exit code. */
  async ended(): Promise<number> {
    return await Promise.race([this.#ended, late(`it goes on: ${this.output}`)])
  }

  hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  isConnected(): boolean {
    return connectionCount > this.#connectedBefore
  }

  /** Whether it waits for what stands in a named pipe, which it goes on to do. */
  opens(path: string): boolean {
    try {
      this.#files.push(openSync(path, fsConstants.O_WRONLY | fsConstants.O_NONBLOCK))
      return true
    } catch {
      return false
    }
  }

  /** Ends what it reads there. */
  close(): void {
    for (const file of this.#files.splice(0)) closeSync(file)
  }

  /** Such as `T` while it stands still, as ps has it. */
  state(): string {
    return /\) (\S)/.exec(readFileSync(`/proc/${this.pid}/stat`, 'utf8'))?.[1] ?? ''
  }
}

async function late(text: string): Promise<never> {
  await sleep(60_000, undefined, { ref: false })
  throw new Error(text)
}

/** What each signal does to a command of each column, in the words of the page. */
const page = readFileSync(new URL('../../../docs/operations/signals.md', import.meta.url), 'utf8')
const [columns = [], ...rows] = [...page.matchAll(/^\| (.*) \|$/gm)].map(([, row]) =>
  row.split(' | '),
)
const effects = new Map(
  rows.flatMap(([signals = '', ...cells]) =>
    [...signals.matchAll(/SIG\w+|real-time/g)].map(([signal]) => [
      signal,
      Object.fromEntries(
        columns.slice(1).map((column, at) => [column.replaceAll('`', ''), cells[at]]),
      ),
    ]),
  ),
)
const signalsThat = (column: string, effect: RegExp) =>
  [...effects].flatMap(([signal, cells]) => (effect.test(cells[column]) ? [signal] : []))

/** The first one of those that have no names. */
const REAL_TIME = 34
const numberOf = (signal: string) =>
  signal === 'real-time' ? REAL_TIME : constants.signals[signal as NodeJS.Signals]

/** Faults of a processor, other names of the same signal, and one that no process can take. */
const HARDWARE = new Set([
  'SIGILL',
  'SIGTRAP',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGSTKFLT',
  'SIGIOT',
  'SIGPOLL',
  'SIGUNUSED',
])

t.test('the page has every signal that a process can take', async (t) => {
  const all = Object.keys(constants.signals).filter((name) => !HARDWARE.has(name))
  t.same([...effects.keys()].toSorted(), [...all, 'real-time'].toSorted())
})

t.test('every command is called here, or is short', async (t) => {
  const called = new Set(Object.keys(table).map((name) => name.split(' ')[0]))
  const others = Object.keys(commands).filter((name) => !called.has(name))
  t.same(others.toSorted(), [...SHORT, 'doctor', 'follow'].toSorted())
})

/** Two sources, a change in the journal, and an area. */
const base = temporaryDirectory(t)
const csv = join(temporaryDirectory(t), 'rows.csv')
await hickory('generate', '--recipients', '20000', '--out', csv)
await hickory('import', '--data', base, '--source', '1', '--label', 'x', csv)
writeFileSync(csv, `${HEADER}+9991,1,2\n`)
await hickory('import', '--data', base, '--source', '2', '--label', 'y', csv)
const writer = new JournalWriter({ directory: journalDirectory(base) })
const change = { op: 'delete', identity: '+9991\0' } as const
writer.append([prepareBatch({ sourceId: 2, batchId: 'a', changes: [change] })])
await writer.release()
const { geometry } = JSON.parse(POLYGONS).features[0]
const area = { key: 'a', name: 'a', aliases: [], geometry }
// So that nobody writes the layers that come with the program.
await writeLayers(base, { set: [{ layer: 'first', areas: [area] }] })

function worldOf(command: Command): World {
  const world = { data: temporaryDirectory(t), work: temporaryDirectory(t) }
  cpSync(base, world.data, { recursive: true })
  command.prepare?.(world)
  return world
}

async function held(command: Command, world: World): Promise<Run> {
  const run = new Run(command.args(world), world, command.input)
  await until(() => command.isHeld(world, run) || run.hasEnded())
  if (run.hasEnded() && command.mayBeOver === undefined)
    throw new Error(`it is over: ${run.output}`)
  return run
}

/** What is there, but for what a process leaves that ends at once, and for readers of LMDB. */
function kept({ data, work }: World, isAbrupt = false): Record<string, string> {
  const left = isAbrupt
    ? /(\.tmp|\.part|^hickory-[a-z]+-[^/]+)(\/|$)|\.lock$|lock\.mdb$/
    : /lock\.mdb$/
  const found = [data, work].flatMap((directory, at) =>
    Object.entries(fingerprint(directory))
      .filter(([name]) => !left.test(name))
      .map(([name, content]) => [`${at} ${name}`, hash('sha256', content)]),
  )
  return Object.fromEntries(found)
}

for (const [at, [name, command]] of Object.entries(table).entries()) {
  const { column, changes, mayBeOver } = command
  const quiet = signalsThat(column, /^nothing$/)
  const ending = signalsThat(column, /^(stops|ends), /).filter((signal) => signal !== 'SIGTERM')
  const abrupt = signalsThat(column, /^ends at once$/)
  const chosen = (signals: readonly string[]) =>
    signals.slice((seed + at) % signals.length).slice(0, 1)
  const others = byTier({
    ci: changes === undefined ? [] : chosen([...ending, ...chosen(abrupt)]),
    soak: [...ending, ...abrupt],
  })
  t.test(name, async (t) => {
    let world = worldOf(command)
    let before = [kept(world), kept(world, true)]
    const signals = ['SIGTERM', ...others]
    let lateCount = 0
    for (let signal = signals.shift(); signal !== undefined; signal = signals.shift()) {
      const run = await held(command, world)
      // The command goes on meanwhile: where that made the signal late, it comes at once.
      if (signal === 'SIGTERM' && lateCount === 0) await passesOver(run, quiet)
      if (mayBeOver === undefined) t.notOk(run.hasEnded(), run.output)
      run.signal(numberOf(signal))
      const code = await run.ended()
      // Once a snapshot is being named, a signal waits until that is done.
      const isNamed = kept(world)['0 CURRENT'] !== before[0]['0 CURRENT']
      if (mayBeOver && (code === 0 || isNamed)) {
        world = worldOf(command)
        before = [kept(world), kept(world, true)]
        if (++lateCount < LATE_COUNT) signals.unshift(signal)
        else t.equal(code, 0, `${signal} waits each time until a snapshot is named`)
        continue
      }
      const isAbrupt = abrupt.includes(signal)
      const expected = /exit code 0/.test(effects.get(signal)?.[column] ?? '')
        ? 0
        : 128 + numberOf(signal)
      if (signal !== 'real-time') t.equal(code, expected, `${signal}: ${run.output}`)
      t.notMatch(run.output, /debugger|inspector/i)
      if (column === 'other commands')
        t.same(kept(world, isAbrupt), before[isAbrupt ? 1 : 0], `after ${signal}`)
      // Of a process that was killed it goes stale.
      for (const lock of isAbrupt
        ? [...locksOf(world.data), join(world.data, 'areas/import.lock')]
        : []) {
        if (existsSync(lock) && statSync(lock).mtimeMs < Date.now() + 60_000) utimesSync(lock, 0, 0)
      }
    }
    if (changes === undefined) return
    command.release?.(world)
    const run = new Run(changes === true ? command.args(world) : changes, world, command.input)
    run.child.stdin?.end()
    t.equal(await run.ended(), 0, run.output)
    t.not(JSON.stringify(kept(world)), JSON.stringify(before[0]))
  })
}

async function passesOver(run: Run, signals: readonly string[]): Promise<void> {
  for (const signal of signals) run.signal(numberOf(signal))
  // The others do nothing in a group of processes that has no terminal.
  for (const signal of ['SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGSTOP']) {
    run.signal(numberOf(signal))
    if (signal === 'SIGSTOP') await until(() => run.hasEnded() || /[TZ]/.test(run.state()))
    run.signal(constants.signals.SIGCONT)
  }
  await sleep(100)
}

t.test('a service passes over SIGHUP while it starts and while it ends', async (t) => {
  const { data, work } = { data: base, work: temporaryDirectory(t) }
  const config = join(work, 'config.json')
  execFileSync('mkfifo', [config])
  const run = new Run(['serve', '--config', config, '--port', '0', '--http-threads', '1'], {
    data,
    work,
  })
  await until(() => run.opens(config) || run.hasEnded())
  run.signal(constants.signals.SIGHUP)
  writeFileSync(config, JSON.stringify({ data }))
  run.close()
  await until(() => run.output.includes('"msg":"ready"') || run.hasEnded())
  run.signal(constants.signals.SIGHUP)
  const [, port] = /"port":(\d+)/.exec(run.output) ?? []
  // It waits for the rest of this request.
  const client = connect(Number(port), '127.0.0.1')
  t.teardown(() => client.destroy())
  client
    .on('error', () => {})
    .write('POST /api/recipients HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
  await once(client, 'connect')
  // Answered behind what came before, so that the request is under way.
  await fetch(`http://127.0.0.1:${port}/livez`)
  run.signal(constants.signals.SIGTERM)
  await until(() => run.output.includes('"msg":"draining"') || run.hasEnded())
  run.signal(constants.signals.SIGHUP)
  await sleep(100)
  t.notOk(run.hasEnded(), run.output)
  run.signal(constants.signals.SIGINT)
  t.equal(await run.ended(), 130, 'a second signal ends it at once')
})
