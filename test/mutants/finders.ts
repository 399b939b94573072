/**
 * The test files that may find a fault, the most likely first: those that are hinted at, the tests of the
 * file itself, those of its folder, and all others that reach it, by how many files lie between.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chooseFiles, dist } from '../runner/files.js'
import { type ImportGraph, importGraph, reaching, sourceOf } from '../runner/imports.js'
import { isOfKernel, type Mutant } from './mutant.js'

export type Tier = 'short' | 'long'

export interface Finder {
  readonly file: string
  readonly tier: Tier
}

export class Finders {
  readonly #graph: ImportGraph = graphWithCommands()
  readonly #files: Readonly<Record<Tier, readonly string[]>> = {
    short: chooseFiles('short', []).files,
    // Those of the short tier that have longer loops there are among them.
    long: chooseFiles('long-only', []).files,
  }
  readonly #loaders = kernelLoaders()

  of({ file, hints = [] }: Mutant, tiers: readonly Tier[]): Finder[] {
    const reached = reaching(this.#graph, isOfKernel(file) ? this.#loadersOf(file) : [file])
    const ownTests = testsOf(file)
    const folder = `${dirname(file)
      .replace(/^src/, 'test')
      .replace(/\/wasm$/, '')}/`
    const rank = (test: string) => {
      if (hints.includes(test)) return -3000 + hints.indexOf(test)
      if (ownTests.includes(test)) return -2000
      return (reached.get(test) ?? 0) - (test.startsWith(folder) ? 1000 : 0)
    }
    const isWanted = (test: string) =>
      reached.has(test) || hints.includes(test) || ownTests.includes(test)
    const found = tiers.flatMap((tier) => {
      const files = this.#files[tier].filter(isWanted)
      return files
        .sort((one, other) => rank(one) - rank(other))
        .map((test) => ({ file: test, tier }))
    })
    // A fault that only the long tier finds would wait for all of the short one.
    const isHinted = (one: Finder) => hints.includes(one.file)
    return [...found.filter(isHinted), ...found.filter((one) => !isHinted(one))]
  }

  /** Whoever loads a kernel is in the folder beside its sources. */
  #loadersOf(file: string): string[] {
    const folder = dirname(dirname(file))
    return this.#loaders.filter((loader) => dirname(loader) === folder)
  }
}

function testsOf(file: string): string[] {
  const place = file.replace(/^src/, 'test').replace(/\.ts$/, '')
  return [`${place}.test.ts`, `${place}.long.test.ts`]
}

/** What starts the program by the test support reaches all of it. */
function graphWithCommands(): ImportGraph {
  const graph = new Map(importGraph(dist))
  const starter = 'test/support/service/hickory.ts'
  return graph.set(starter, [...(graph.get(starter) ?? []), 'src/cli.ts'])
}

function kernelLoaders(): string[] {
  const names = readdirSync(join(dist, 'src'), { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.js'))
    .filter((name) => /new URL\('[^']+\.wasm'/.test(readFileSync(join(dist, 'src', name), 'utf8')))
    .map((name) => sourceOf(join('src', name)))
}
