/**
 * Which compiled files reach which others, by imports, and by the URLs of threads and commands that
 * they start.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** The files that each file names, both by their paths in the repository. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

export function importGraph(dist: string): ImportGraph {
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  const graph = new Map<string, readonly string[]>()
  for (const name of names.filter((name) => name.endsWith('.js') && !name.startsWith('bundle'))) {
    const text = readFileSync(join(dist, name), 'utf8')
    const named = [...text.matchAll(NAMED_FILE)].map(([, path]) => join(dist, dirname(name), path))
    graph.set(
      sourceOf(name),
      named.map((path) => sourceOf(relative(dist, path))),
    )
  }
  return graph
}

/** The source of a compiled file below `dist`, with slashes. */
export function sourceOf(path: string): string {
  const source = path.split(sep).join('/').replace(/\.js$/, '.ts')
  // The bundle is made of it.
  return source.replace(/^bundle\/cli\.ts$/, 'src/cli.ts')
}

/** `from './x.js'`, `import('./x.js')`, `new URL('./x.js', …)`. */
const NAMED_FILE = /(?:\bfrom |\bimport\(|\bimport |\bnew URL\()'(\.{1,2}\/[^']+\.js)'/g

/** All files from which one of these is reached, and over how many others; their own is 0. */
export function reaching(graph: ImportGraph, files: readonly string[]): Map<string, number> {
  const importers = new Map<string, string[]>()
  for (const [file, named] of graph) {
    for (const name of named) importers.set(name, [...(importers.get(name) ?? []), file])
  }
  const distances = new Map(files.map((file) => [file, 0]))
  for (const [file, distance] of distances) {
    // A map that grows is walked to its new end.
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}
