/**
 * The compiled test files: which there are, which were asked for, and in which order they start.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tierOf } from '../support/tier.js'
import { importGraph, reaching, sourceOf } from './imports.js'
import { startFirst } from './order.js'

/** Where `src`, `test` and the others are, compiled. */
export const dist = fileURLToPath(new URL('../../', import.meta.url))

/** What is run: all of the short tier, all of both, or only what `npm test` does not run. */
export type Extent = 'short' | 'all' | 'long-only'

/** Test files by their paths in the repository, such as `test/shard/runs.test.ts`. */
export interface Choice {
  readonly files: readonly string[]
  /** Only tests of this name are run of these files. */
  readonly testName?: string
}

/**
 * The files of a run, in the order in which they start.
 *
 * @param asked  folders and files of src or test, or names of tests; none for everything
 * @throws Error  that says what nothing is there for
 */
export function chooseFiles(extent: Extent, asked: readonly string[]): Choice {
  const all = testFiles()
  if (asked.length === 0) return { files: inOrder(all.filter((file) => isIn(file, extent))) }
  const chosen = new Set<string>()
  let testName: string | undefined
  for (const what of asked) {
    const found = isPath(what) ? filesOfPath(all, pathOf(what), extent) : filesWithTest(all, what)
    if (found.length === 0) throw new Error(`there is no test of "${what}"`)
    if (!isPath(what)) testName = what
    for (const file of found) chosen.add(file)
  }
  if (testName !== undefined && asked.length > 1) {
    throw new Error(`"${testName}" is no path, and the name of a test is given alone`)
  }
  return { files: inOrder([...chosen]), ...(testName === undefined ? {} : { testName }) }
}

/** Every test file of the repository. */
export function testFiles(): string[] {
  const names = readdirSync(join(dist, 'test'), { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => sourceOf(join('test', name)))
    .filter((file) => existsSync(join(dist, '..', file)))
    .sort()
}

export function compiledOf(file: string): string {
  return join(dist, file.replace(/\.ts$/, '.js'))
}

function isIn(file: string, extent: Extent): boolean {
  if (extent === 'all') return true
  return tierOf(file) === (extent === 'short' ? 'short' : 'long')
}

function isPath(what: string): boolean {
  return /^(\.[\\/])?(src|test|loadtest|workers|dist)([\\/]|$)/.test(what) || existsSync(what)
}

/** As it is in the repository, whether it was given so, from elsewhere, or compiled. */
function pathOf(what: string): string {
  const path = existsSync(what) ? relative(join(dist, '..'), what) : what
  return sourceOf(path)
    .replace(/^\.\//, '')
    .replace(/^dist\//, '')
    .replace(/\/$/, '')
}

function filesOfPath(all: readonly string[], path: string, extent: Extent): string[] {
  if (all.includes(path)) return [path]
  const place = path.replace(/^src(\/|$)/, 'test$1').replace(/^loadtest(\/|$)/, 'test/loadtest$1')
  if (!path.endsWith('.ts')) {
    return all.filter((file) => file.startsWith(`${place}/`) && isIn(file, extent))
  }
  const own = all.filter((file) => file.replace(/(\.long)?\.test\.ts$/, '.ts') === place)
  if (own.length > 0) return own
  const reached = reaching(importGraph(dist), [path])
  return all.filter((file) => reached.has(file) && isIn(file, extent))
}

function filesWithTest(all: readonly string[], name: string): string[] {
  return all.filter((file) => readFileSync(compiledOf(file), 'utf8').includes(name))
}

function inOrder(files: readonly string[]): string[] {
  const rank = (file: string) => {
    const at = startFirst.indexOf(file)
    return at < 0 ? startFirst.length : at
  }
  return [...files].sort((one, other) => rank(one) - rank(other) || place(one) - place(other))
}

/**
 * Files of the short tier stay as they are, since those of a folder share what their process has loaded. Those of the
 * long tier are mixed: in some folders all files work, in others all wait.
 */
function place(file: string): number {
  if (tierOf(file) === 'short') return -1
  return createHash('sha256').update(file).digest().readUInt32BE()
}
