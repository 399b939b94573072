import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

/**
 * The recipes of CONTRIBUTING.md name the files that the compiler refuses once the first step is
 * done. Here the first step of each is done in memory, and the compiler is asked.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))

interface Recipe {
  readonly title: string
  /** The file of the first step. */
  readonly path: string
  /** What the addition follows. */
  readonly after: string
  /** The name that is added: what the compiler says of it has it in quotes. */
  readonly name: string
  readonly addition: string
}

const recipes: readonly Recipe[] = [
  {
    title: 'A new part of a layer',
    path: 'src/geometry/layer-parts.ts',
    after: 'export interface LayerParts {',
    name: 'recipePart',
    addition: 'readonly recipePart: Uint32Array',
  },
  {
    title: 'A new operation',
    path: 'src/interface/operations.ts',
    after: 'export const operations = {',
    name: 'RecipeRequest',
    addition: `RecipeRequest: {
      summary: '', description: '', verb: 'GET', paths: ['/api/recipe'], isWrite: false, scopes: [],
      request: NothingSchema, response: undefined, examples: examples.noMembers,
    },`,
  },
  {
    title: 'A new metric',
    path: 'src/metrics/table.ts',
    after: 'export const readings = {',
    name: 'hickory_recipe',
    addition: `hickory_recipe: { type: 'gauge', help: '' },`,
  },
  {
    title: 'A new format',
    path: 'src/format/formats.ts',
    after: 'export type Format =',
    name: 'recipeFormat',
    addition: "'recipeFormat' |",
  },
]

const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
const lists = new Map(recipes.map(({ title }) => [title, refusedFilesOf(title)]))
const refusals = compile(new Map(recipes.map((recipe) => [recipe.path, edited(recipe)])))

for (const { title, path, name } of recipes) {
  t.test(
    `${title.toLowerCase()}: the recipe names every file that the compiler refuses`,
    async (t) => {
      t.match(sectionOf(title), `\`${path}\``, 'the first step')
      const refused = refusals.filter(({ message }) => message.includes(`'${name}'`))
      t.same(lists.get(title), unique(refused.map((each) => each.path)))
    },
  )
}

t.test('the compiler refuses nothing else', async (t) => {
  const names = recipes.map(({ name }) => `'${name}'`)
  t.same(
    refusals.filter(({ message }) => !names.some((name) => message.includes(name))),
    [],
  )
})

function sectionOf(title: string): string {
  const [, section] = text.split(`\n### ${title}\n`)
  return section.split(/\n##/, 1)[0]
}

/** The items of the list that follows "The compiler then refuses:", each of which begins with a path. */
function refusedFilesOf(title: string): string[] {
  const [, list] = sectionOf(title).split(/The\s+compiler\s+then\s+refuses:\n/)
  const [items] = list.trim().split('\n\n', 1)
  return unique([...items.matchAll(/^- `([^`]+)`/gm)].map(([, path]) => path))
}

function edited({ path, after, addition }: Recipe): string {
  const [before, rest, ...others] = readFileSync(join(root, path), 'utf8').split(after)
  if (rest === undefined || others.length > 0) throw new Error(`${path} has "${after}" not once`)
  return `${before}${after}\n${addition}\n${rest}`
}

/** @param changed  the texts of files that are not compiled as they are, by path */
function compile(changed: ReadonlyMap<string, string>): { path: string; message: string }[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const host = ts.createCompilerHost(options)
  const { readFile } = host
  host.readFile = (file) => changed.get(relative(root, file)) ?? readFile(file)
  // Of the tests only those that a recipe names: to check all takes several times as long.
  const named = [...lists.values()].flat()
  const paths = fileNames
    .map((file) => relative(root, file))
    .filter((path) => /^(src|workers)\//.test(path) || named.includes(path))
  const program = ts.createProgram(
    paths.map((path) => join(root, path)),
    { ...options, noEmit: true, incremental: false },
    host,
  )
  return paths.flatMap((path) =>
    program.getSemanticDiagnostics(program.getSourceFile(join(root, path))).map((diagnostic) => ({
      path,
      message: ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
    })),
  )
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort()
}
