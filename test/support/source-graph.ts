/**
 * Which source files import which others, types included, and what they export: read from their text, as Biome formats
 * it. A parser takes two seconds for all of them.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface SourceModule {
  /** What it imports or exports again of other source files. */
  readonly imports: readonly { readonly from: string; readonly names: readonly string[] | 'all' }[]
  /** Files that it starts as threads or processes, by the URL of what they compile to. */
  readonly started: readonly string[]
  readonly exports: readonly string[]
}

/** By paths in the repository. */
export type SourceGraph = ReadonlyMap<string, SourceModule>

export function sourceGraph(root: string, paths: readonly string[]): SourceGraph {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  return new Map(paths.map((path) => [path, readModule(path, read(path))]))
}

/** Circles of imports, each from its first file back to that; one at least of those that meet. */
export function circlesOf(graph: SourceGraph): string[][] {
  const circles: string[][] = []
  const done = new Set<string>()
  const way: string[] = []
  const follow = (path: string): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path])
    if (done.has(path) || way.includes(path)) return
    way.push(path)
    for (const { from } of graph.get(path)?.imports ?? []) follow(from)
    way.pop()
    done.add(path)
  }
  for (const path of graph.keys()) follow(path)
  return circles
}

/** Everything that some files import or start, and what that does, and themselves. */
export function reachedFrom(graph: SourceGraph, paths: readonly string[]): ReadonlySet<string> {
  const reached = new Set(paths)
  // A set that grows is walked to its new end.
  for (const path of reached) {
    const module = graph.get(path)
    for (const { from } of module?.imports ?? []) reached.add(from)
    for (const started of module?.started ?? []) reached.add(started)
  }
  return reached
}

/** `path#name` of each export that some files import. */
export function importedNames(graph: SourceGraph, isUser: (path: string) => boolean): Set<string> {
  const imported = new Set<string>()
  for (const [path, { imports }] of graph) {
    if (!isUser(path)) continue
    for (const { from, names } of imports) {
      for (const name of names === 'all' ? (graph.get(from)?.exports ?? []) : names) {
        imported.add(`${from}#${name}`)
      }
    }
  }
  return imported
}

/** What a text imports or exports again, of other source files and of libraries. */
export function importsOf(text: string): { specifier: string; names: readonly string[] | 'all' }[] {
  const stated = Array.from(text.matchAll(STATEMENT), ([, clause, specifier]) => ({
    specifier,
    names: namesOf(clause ?? ''),
  }))
  const inside = Array.from(text.matchAll(EXPRESSION), ([, bindings, specifier, member]) => ({
    specifier,
    names: bindings === undefined ? (member === undefined ? 'all' : [member]) : partsOf(bindings),
  })) satisfies { names: readonly string[] | 'all' }[]
  return [...stated, ...inside]
}

/** As in `import { a, type B as C } from './c.js'`. */
const STATEMENT =
  /^(?:import|export) (?:(?:type )?(\*(?: as \w+)?|\w+|(?:\w+, )?\{[^}]*\}) from )?'([^']+)'/gm

/** As in `const { a } = await import('./b.js')`, `(await import('./b.js')).a` and `import('./b.js').A`. */
const EXPRESSION = /(?:\{([^{}]*)\} = (?:await )?)?\bimport\(\s*'([^']+)',?\s*\)\)?(?:\.(\w+))?/g

const STARTED = /\bnew URL\(\s*'([^']+\.js)',\s*import\.meta\.url,?\s*\)/g

/** As in `export async function a`, `export const { a, b: c }` and `export { a as b }`. */
const EXPORT =
  /^export (?:(?:(?:declare|abstract|async|default) )*(?:function\*?|class|const|let|interface|type|enum) (?:(\w+)|[[{]([^=]*)[}\]] =)|(?:type )?\{([^}]*)\})/gm

function readModule(path: string, text: string): SourceModule {
  const imports = importsOf(text).filter(({ specifier }) => specifier.startsWith('.'))
  const exported = [...text.matchAll(EXPORT)]
  const exportCount = text.match(/^export (?!\*)/gm)?.length ?? 0
  // Texts within tests may be anything.
  if (exported.length !== exportCount && !path.startsWith('test/')) {
    throw new Error(`${path} exports something in a form that is not read here`)
  }
  return {
    imports: imports.map(({ specifier, names }) => ({ from: sourceOf(path, specifier), names })),
    started: Array.from(text.matchAll(STARTED), ([, specifier]) => sourceOf(path, specifier)),
    exports: exported.flatMap(([, name, bindings, clause]) =>
      name === undefined ? partsOf(bindings ?? clause, 'there') : [name],
    ),
  }
}

/** The source of what is named relative to another file, as JavaScript or, in AssemblyScript, bare. */
function sourceOf(importer: string, specifier: string): string {
  const source = normalize(join(dirname(importer), specifier)).replace(/\.js$/, '')
  return `${source.replace(/^bundle\/cli$/, 'src/cli')}.ts`
}

function namesOf(clause: string): readonly string[] | 'all' {
  if (clause.startsWith('*')) return 'all'
  const [, parts] = /\{([^}]*)\}/.exec(clause) ?? []
  return parts === undefined ? [] : partsOf(parts)
}

/** Names within braces: as they are called where they come from, or where they go to. */
function partsOf(text: string, end: 'here' | 'there' = 'here'): string[] {
  const parts = text.split(',').map((part) => part.trim().replace(/^type /, ''))
  return parts
    .filter((part) => part !== '')
    .map((part) => part.split(/ as |: /).at(end === 'here' ? 0 : -1) as string)
}
