/**
 * What the program has, and pages list: each is held to the table that the program itself goes by.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { commands } from '../src/commands/all.js'
import { wholeProgram } from '../src/commands/command-line.js'
import { type DescribedCommand, describe } from '../src/commands/described.js'
import { AccessLog } from '../src/http/access-log.js'
import type { RequestEnd } from '../src/http/observe.js'
import { keyScopes } from '../src/interface/key-scopes.js'
import type { Operation } from '../src/interface/operation.js'
import { operations } from '../src/interface/operations.js'
import type { Log } from '../src/log.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** What people read; without the pages that are made from the program. */
const allPages = ['README.md', ...['docs', 'docs/api', 'docs/operations'].flatMap(markdownIn)]
  .filter((page) => page !== 'docs/mistakes.md')
  .map(read)
  .join('\n')

/** The operations of the service, as the pages name them. */
const entries: (Operation & { readonly name: string })[] = Object.entries(operations).map(
  ([name, operation]) => ({ name, ...operation }),
)

t.test('docs/operations/keys.md has the operations of each scope', async (t) => {
  const rows = tableOf('docs/operations/keys.md', 'scope')
  for (const scope of keyScopes) {
    if (scope === 'admin') continue
    const row = rows.find(([names]) => names.includes(`\`${scope}\``)) ?? []
    const allowed = entries.filter(({ scopes }) => scopes.includes(scope))
    t.same(namedIn(row), allowed.map(({ name }) => name).sort(), scope)
  }
})

t.test('docs/api/formats-and-clients.md has the rows of each operation', async (t) => {
  const page = 'docs/api/formats-and-clients.md'
  const rows = [...new Set(namedIn(tableOf(page, 'operation | one row for each').flat()))]
  const described = entries.filter(({ description }) => description.includes('As CSV'))
  t.strictSame(
    described.map(({ name }) => name).filter((name) => !rows.includes(name)),
    [],
  )
  const drawn = entries.filter(({ hasFeatures }) => hasFeatures)
  const features = namedIn(tableOf(page, 'operation | features').flat())
  t.same(features, drawn.map(({ name }) => name).sort())
})

t.test('each warning stands once in the tables of warnings', async (t) => {
  const { enum: codes } = JSON.parse(read('docs/openapi.json')).components.schemas.WarningCode
  const tables = [
    tableOf('docs/api/mistakes.md', '`Code`'),
    tableOf('docs/api/cap.md', 'code | when'),
  ]
  const listed = tables.flatMap((rows) => rows.flatMap(([cell]) => wordsIn(cell)))
  t.same(listed.sort(), codes.toSorted())
})

const program = flat(describe(await wholeProgram(commands)))

t.test('each command, and each of its options, stands on a page', async (t) => {
  for (const { path, options } of program) {
    t.ok(allPages.includes(`${path.slice(1).join(' ')}`), path.join(' '))
    for (const flag of options.flatMap(({ flags }) => flags)) {
      if (!flag.startsWith('--') || ['--help', '--version'].includes(flag)) continue
      t.ok(new RegExp(`${flag}(?![\\w-])`).test(allPages), `${path.join(' ')} ${flag}`)
    }
  }
})

t.test('pages that list the commands with an option list them all', async (t) => {
  const audit = squeezed(read('docs/operations/audit.md'))
  const backup = squeezed(read('docs/operations/backup.md'))
  const lists = {
    '--audit': /Commands take `--audit`.*?\. /.exec(audit)?.[0] ?? '',
    '--quiet': /With `--quiet`,.*? print nothing/.exec(backup)?.[0] ?? '',
  }
  for (const [flag, list] of Object.entries(lists)) {
    const having = program.filter(({ options }) =>
      options.some(({ flags }) => flags.includes(flag)),
    )
    const names = having.map(({ path }) => path.slice(1)).filter(([name]) => name !== 'serve')
    const named = wordsIn(list).filter((word) => /^[a-z ]+$/.test(word))
    // Of `keys create`, `revoke` and the like, the later ones are named by their last word.
    t.same(
      named.map((name) => name.split(' ').at(-1)).sort(),
      names.map((name) => name.at(-1)).sort(),
    )
  }
})

t.test('docs/operations/access-log.md has each member of a line', async (t) => {
  const text = read('docs/operations/access-log.md')
  let members: string[] = []
  const log = {
    info(fields: object) {
      members = Object.keys(fields)
    },
  }
  const end = { isBatch: true, outcome: 'left', status: 200, rowCount: 1, stageMs: {} }
  new AccessLog(log as unknown as Log, { sample: 1, slowMs: 0 }).over(end as RequestEnd)
  t.ok(members.includes('isBatch') && members.length > 15, 'members are found')
  for (const member of members) {
    t.ok(text.includes(`"${member}"`) || text.includes(`\`${member}\``), member)
  }
})

t.test('each header that the program names stands on a page', async (t) => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const names = sources
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...read(`src/${name}`).matchAll(/['" ](X(?:-[A-Z][A-Za-z]+)+)/g)])
    .map(([, name]) => name)
  t.ok(names.includes('X-Coverage') && names.includes('X-Accel-Buffering'), 'names are found')
  // Libraries of browsers send X-Requested-With, and it means nothing here.
  for (const name of new Set(names))
    t.ok(name === 'X-Requested-With' || allPages.includes(name), name)
})

/** The rows of the table whose head begins with a text, by their cells. */
function tableOf(page: string, head: string): string[][] {
  const table = read(page).split(`\n| ${head}`)[1]?.split('\n\n')[0] ?? ''
  return table
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1),
    )
}

/** The operations that stand in cells. */
function namedIn(cells: readonly string[]): string[] {
  const words = new Set(cells.flatMap(wordsIn))
  return [...words].filter((word) => word in operations).sort()
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word)
}

/** A command and all within it, those with an action alone. */
function flat(command: DescribedCommand): DescribedCommand[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(flat)
}

function markdownIn(directory: string): string[] {
  const names = readdirSync(join(root, directory)).filter((name) => name.endsWith('.md'))
  return names.map((name) => `${directory}/${name}`)
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ')
}
