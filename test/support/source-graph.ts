/**
 * Which source files import which others, types included, and what they export: read from their text.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

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

function readModule(path: string, text: string): SourceModule {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports: { from: string; names: readonly string[] | 'all' }[] = []
  const started: string[] = []
  const add = (specifier: ts.Node | undefined, names: readonly string[] | 'all') => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    if (specifier.text.startsWith('.'))
      imports.push({ from: sourceOf(path, specifier.text), names })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, namesOf(node.importClause?.namedBindings))
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, namesOf(node.exportClause))
    } else if (ts.isImportTypeNode(node)) {
      const { argument, qualifier } = node
      const name = qualifier?.getText().split('.')[0]
      if (ts.isLiteralTypeNode(argument)) add(argument.literal, name === undefined ? 'all' : [name])
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], namesTaken(node))
    } else if (ts.isNewExpression(node) && node.arguments?.[1]?.getText() === 'import.meta.url') {
      const [name] = node.arguments
      if (ts.isStringLiteralLike(name) && name.text.endsWith('.js')) {
        started.push(sourceOf(path, name.text))
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { imports, started, exports: source.statements.flatMap(exportedNames) }
}

/** The source of what is named relative to another file, as JavaScript or, in AssemblyScript, bare. */
function sourceOf(importer: string, specifier: string): string {
  return `${normalize(join(dirname(importer), specifier)).replace(/\.js$/, '')}.ts`
}

function namesOf(
  bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined,
): readonly string[] | 'all' {
  if (bindings === undefined) return []
  if (!ts.isNamedImports(bindings) && !ts.isNamedExports(bindings)) return 'all'
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

/** Of `(await import(…)).name` and `const { name } = await import(…)`. */
function namesTaken(call: ts.CallExpression): readonly string[] | 'all' {
  let node: ts.Node = call
  while (ts.isAwaitExpression(node.parent) || ts.isParenthesizedExpression(node.parent)) {
    node = node.parent
  }
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return [parent.name.text]
  if (!ts.isVariableDeclaration(parent) || !ts.isObjectBindingPattern(parent.name)) return 'all'
  return parent.name.elements.map(({ name, propertyName }) => (propertyName ?? name).getText())
}

function exportedNames(statement: ts.Statement): string[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause } = statement
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) return []
    return exportClause.elements.map(({ name }) => name.text)
  }
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined
  if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : name.elements.map((element) => element.getText()),
    )
  }
  const { name } = statement as ts.DeclarationStatement
  return name === undefined ? [] : [name.getText()]
}
