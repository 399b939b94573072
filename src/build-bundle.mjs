/**
 * Puts the program and its threads into a few files of dist/bundle, with those libraries that are JavaScript alone. A
 * service opens 3,000 files in ten threads without it, and takes twice as long to start.
 *
 *   node src/build-bundle.mjs [--watch]
 *
 * @module
 */
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, context } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiled = join(root, 'dist')
const bundle = join(compiled, 'bundle')
const entries = [
  'src/cli.js',
  ...readdirSync(join(compiled, 'workers')).map((name) => `workers/${name}`),
]
  .filter((name) => name.endsWith('.js'))
  .map((name) => join(compiled, name))

/** They have binaries, or find files of their own by where they are. */
const external = [
  ...['@duckdb/node-bindings*', '@lmdb/*', 'lmdb', 'msgpackr', 'uWebSockets.js'],
  ...['h3-js', 'piscina', 'pino', 'sql.js'],
  // pg and ws do without.
  ...['pg-native', 'bufferutil', 'utf-8-validate'],
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
  outdir: bundle,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  external,
  banner: { js: BANNER },
  plugins: [{ name: 'places', setup: placed }],
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
  await (await context(programs)).watch()
} else {
  rmSync(bundle, { recursive: true, force: true })
  await build(typebox)
  await build(programs)
  chmodSync(join(bundle, 'cli.js'), 0o755)
}

/** A module names other files by where it is itself, and all are in one folder here. */
function placed({ onLoad }) {
  onLoad({ filter: /\/dist\/(src|workers)\/.*\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(NAMED_FILE, (_, name) => {
      const named = join(dirname(path), name)
      const place = entries.includes(named) ? `./${basename(named)}` : relative(bundle, named)
      return `new URL('${place}', import.meta.url)`
    }),
    watchFiles: [path],
  }))
}
