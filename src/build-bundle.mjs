/**
 * Puts the program and its threads into a few files of dist/bundle, with those libraries that are JavaScript alone. A
 * service opens 3,000 files in ten threads without it, and takes twice as long to start.
 *
 *   node src/build-bundle.mjs [--watch]
 *
 * @module
 */
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, context } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiled = join(root, 'dist')
const bundle = join(compiled, 'bundle')
/** By their sources, since results of sources that are gone stay in dist. */
const entries = [
  'src/cli.ts',
  ...readdirSync(join(root, 'workers')).map((name) => `workers/${name}`),
].map((name) => join(compiled, name.replace(/\.ts$/, '.js')))

/**
 * They have binaries, or find files of their own by where they are. What the program loads by createRequire stays
 * outside, too.
 */
const external = [
  ...['@duckdb/node-bindings*', '@lmdb/*', 'lmdb', 'msgpackr', 'uWebSockets.js'],
  ...['@bokuweb/zstd-wasm', 'piscina', 'pino', 'sql.js'],
  // pg does without.
  'pg-native',
]

/** Libraries in CommonJS require modules of Node.js. */
const BANNER = `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

const shared = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
}

const programs = {
  ...shared,
  entryPoints: entries,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  external,
  banner: { js: BANNER },
  plugins: [
    { name: 'places', setup: placed },
    { name: 'required', setup: required },
  ],
}

/** Tests import modules of dist/src, where typebox alone has 700. By the names in `imports` of package.json. */
const typebox = {
  ...shared,
  entryPoints: {
    index: join(root, 'node_modules/typebox/build/index.mjs'),
    compile: join(root, 'node_modules/typebox/build/compile/index.mjs'),
  },
  outdir: join(compiled, 'src/typebox'),
}

const NAMED_FILE = /\bnew URL\('([^']+)', import\.meta\.url\)/g

if (process.argv.includes('--watch')) {
  await (await context({ ...programs, outdir: bundle })).watch()
} else if (isOld()) {
  const [made, before] = [`${bundle}.new`, `${bundle}.old`]
  for (const folder of [made, before]) rmSync(folder, { recursive: true, force: true })
  await build(typebox)
  await build({ ...programs, outdir: made })
  chmodSync(join(made, 'cli.js'), 0o755)
  // What runs may be starting a thread.
  if (existsSync(bundle)) renameSync(bundle, before)
  renameSync(made, bundle)
  rmSync(before, { recursive: true, force: true })
}

/** Whether it is older than anything that it is made of. */
function isOld() {
  const modules = ['src', 'workers'].flatMap((name) => {
    const folder = join(compiled, name)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith('.js')).map((file) => join(folder, file))
  })
  const others = ['node_modules/.package-lock.json', 'package.json', 'workers']
  const sources = [...modules, ...others.map((name) => join(root, name)), import.meta.filename]
  const made = Object.keys(typebox.entryPoints).map((name) => join(typebox.outdir, `${name}.js`))
  const newest = Math.max(...sources.filter((path) => !made.includes(path)).map(changedMs))
  return newest >= Math.min(...[join(bundle, 'cli.js'), ...made].map(changedMs))
}

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** A module names other files by where it is itself, and all are in one folder here. */
function placed({ onLoad }) {
  onLoad({ filter: /[\\/]dist[\\/](src|workers)[\\/].*\.js$/ }, ({ path }) => {
    const contents = readFileSync(path, 'utf8').replace(NAMED_FILE, (_, name) => {
      const named = join(dirname(path), name)
      const place = entries.includes(named)
        ? `./${basename(named)}`
        : relative(bundle, named).split(sep).join('/')
      return `new URL("${place}", import.meta.url)`
    })
    const unplaced = /(?<!createRequire\(|new URL\("[^"]+", )\bimport\.meta\b/.exec(contents)
    if (unplaced === null) return { contents, watchFiles: [path] }
    const text = "names a file in another way than new URL('…', import.meta.url)"
    return { errors: [{ text, location: { file: path } }] }
  })
}

/**
 * A module that imports node:http reads all of its members, and with them Node.js loads its fetch: 30 ms in each thread.
 * One that requires it reads what it uses.
 */
function required({ onResolve, onLoad }) {
  onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
    kind === 'import-statement' ? { path, namespace: 'required' } : undefined,
  )
  onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
    contents: `module.exports = require('${path}')`,
  }))
}
