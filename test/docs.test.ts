import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { usageOf } from '../loadtest/options.js'
import { readConfig } from '../src/config.js'
import { errorTables } from '../src/errors.js'
import { operations } from '../src/interface/operations.js'
import { limits } from '../src/limits.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Pages that somebody reads from top to bottom, and so short. */
const pages = [
  'docs/api.md',
  'docs/operations.md',
  ...markdownIn('docs/api'),
  ...markdownIn('docs/operations'),
]

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...markdownIn('docs'),
  ...markdownIn('docs/api'),
  ...markdownIn('docs/operations'),
  ...markdownIn('docs/decisions'),
  'loadtest/README.md',
]

t.test('docs/errors.md has exactly the errors of the code', async (t) => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \|/gm)]
  const documented = Object.fromEntries(rows.map(([, code, number]) => [code, Number(number)]))
  t.same(documented, { ...errorTables.serviceErrors, ...errorTables.operatorErrors })
  t.equal(rows.length, Object.keys(documented).length, 'each has one row')
  const [ofRequests, ofCommands] = [
    rows.filter(isOfRequest),
    rows.filter((row) => !isOfRequest(row)),
  ]
  for (const table of [ofRequests, ofCommands]) {
    const numbers = table.map(([, , number]) => Number(number))
    t.same(
      numbers,
      numbers.toSorted((a, b) => a - b),
      'those of a status are together',
    )
  }
})

t.test('what a README makes in the data of a checkout is not committed', async (t) => {
  const lines = read('.gitignore').split('\n')
  const kept = ['data/default', 'data/system']
  t.ok(lines.includes('data/*'))
  t.same(
    lines.filter((line) => line.startsWith('!')),
    kept.map((folder) => `!${folder}`),
  )
  const text = `${read('README.md')}${read('CONTRIBUTING.md')}`
  const folders = [...text.matchAll(/\.\/(data\/\w+)/g)].map(([, folder]) => folder)
  t.ok(folders.includes('data/mine') && folders.includes('data/local'))
  for (const folder of folders) t.notOk(kept.includes(folder), folder)
  for (const [, file] of text.matchAll(/--out (\S+)/g)) {
    t.ok(lines.includes(`/${file}`), file)
  }
})

t.test('docs/operations/settings.md has every setting, its flag and its variable', async (t) => {
  const text = read('docs/operations/settings.md')
  const names = [...text.matchAll(/^\| `--([\w-]+)[ `].*\| `(HICKORY_\w+)` \| .* \| `(\w+)` \|$/gm)]
  // TLS is one member with four settings, a cluster one with 12.
  t.equal(names.length, Object.keys(readConfig({}, {})).length + 3 + 11)
  for (const [, flag, variable] of names) {
    t.equal(variable, `HICKORY_${flag.replaceAll('-', '_').toUpperCase()}`)
  }
})

t.test('docs/operations/snapshots.md has the times that a new snapshot is taken in', async (t) => {
  const text = squeezed(read('docs/operations/snapshots.md'))
  t.equal(limits.snapshotPollMs, 1_000)
  t.match(text, 'Each second the service looks')
  t.match(text, `is tried again after ${limits.snapshotRetryMs / 1000} seconds`)
  t.match(text, `damaged snapshot again after ${limits.snapshotRetryMs / 1000} seconds`)
  t.match(text, `After ${limits.snapshotReleaseMs / 1000} seconds the service aborts a list`)
})

t.test('docs/operations/tls.md has the bounds of the code', async (t) => {
  const text = squeezed(read('docs/operations/tls.md'))
  const count = (value: number) => value.toLocaleString('en-US')
  t.match(text, `| connections | ${count(limits.tlsConnectionCount)};`)
  t.match(text, `| handshakes under way | ${count(limits.tlsHandshakeCount)};`)
  t.match(text, `| a handshake | closed after ${limits.tlsHandshakeMs / 1000} s |`)
  t.match(text, `buffers of the system | ${limits.tlsBufferBytes / 1024} KiB |`)
  t.match(text, `certificates or a key | ${limits.tlsFileBytes / 2 ** 20} MiB |`)
})

t.test('docs/operations/postgres.md has what an import waits for', async (t) => {
  const text = squeezed(read('docs/operations/postgres.md'))
  t.match(text, `within ${limits.databaseConnectMs / 1000} seconds`)
  t.match(text, `sends nothing for ${limits.databaseStallMs / 60_000} minutes`)
})

t.test('loadtest/README.md has every scenario and every option', async (t) => {
  const text = read('loadtest/README.md')
  const files = readdirSync(join(root, 'loadtest/scenarios'))
  const names = files.flatMap(
    (file) =>
      /: Scenario = \{\n {2}name: '(.+)',/.exec(read(`loadtest/scenarios/${file}`))?.[1] ?? [],
  )
  t.ok(names.includes('mixed') && names.length > 5, 'scenarios are found')
  for (const name of names) t.match(text, new RegExp(`^\\| \`${name}\` +\\|`, 'm'), name)
  const usage = usageOf([{ name: 'mixed', summary: '' }])
  for (const [, flag] of usage.matchAll(/^ {2}(--[\w-]+)/gm))
    t.ok(text.includes(`[${flag}`) || text.includes(`| ${flag}`), flag)
})

t.test(
  'the interface has a page with every path, and one with the bounds of the code',
  async (t) => {
    const operationsText = read('docs/api.md')
    for (const path of Object.values(operations).flatMap(({ paths }) => paths)) {
      t.ok(operationsText.includes(`\`${path}\``), path)
    }
    const text = read('docs/api/limits.md')
    const count = (value: number) => value.toLocaleString('en-US')
    const { featureCount, ringCount, vertexCount } = limits
    t.match(text, `${count(featureCount)}, ${count(ringCount)}, ${count(vertexCount)}`)
    t.match(text, `they name | ${count(limits.areaNameCount)}; ${count(limits.namedVertexCount)} |`)
    t.match(text, `\`utm\`) | ${count(limits.cellCount)} |`)
    const { xmlCharCount, xmlElementCount, capElementCount } = limits
    t.match(
      text,
      `alert | ${[xmlCharCount, xmlElementCount, capElementCount].map(count).join('; ')} |`,
    )
    t.match(text, `arcs of circles, corridors and margins | ${count(limits.arcCount)} |`)
    t.match(text, `features with \`nearest\` | ${limits.nearestFeatureCount} |`)
    t.match(read('docs/api/shapes.md'), `1 to ${count(limits.nearestCount)} |`)
    t.match(text, `recipients of a page (\`limit\`) | ${count(limits.pageRecipientCount)} |`)
    t.match(text, `ids in a list of \`sources\` | ${limits.sourceCount} |`)
    t.match(text, `| body | ${limits.bodyBytes / 2 ** 20} MiB |`)
    t.match(text, `${count(limits.batchRequestCount)}; ${limits.batchHeldBytes / 2 ** 20} MiB |`)
    t.match(text, `${count(limits.areaCount)}; ${count(limits.contextNameCharCount)} |`)
    const { contextCount, storedAreaCount, storedBytes } = limits
    t.match(
      text,
      `${count(contextCount)}; ${count(storedAreaCount)}; ${storedBytes / 2 ** 30} GiB |`,
    )
    const { suppressionBatchCount, suppressionCount, suppressionListCount } = limits
    const listCounts = [suppressionBatchCount, suppressionCount, suppressionListCount]
    t.match(text, `lists | ${listCounts.map(count).join('; ')} |`)
    const { suppressionPageDefaultCount, suppressionPageCount } = limits
    const suppressions = squeezed(read('docs/api/suppressions.md'))
    t.match(
      suppressions,
      `(default ${suppressionPageDefaultCount}, at most ${count(suppressionPageCount)})`,
    )
    t.match(suppressions, `not applied it within ${limits.suppressionTakeMs / 1000} seconds`)
    t.match(suppressions, `up to ${count(suppressionBatchCount)} numbers`)
    const { batchChangeCount, journalBatchIdBytes } = limits
    const changes = squeezed(read('docs/api/changes.md'))
    t.match(changes, `A batch has 1 to ${count(batchChangeCount)} changes`)
    t.match(changes, `an id of 1 to ${journalBatchIdBytes} bytes`)
    t.match(changes, `The last ${count(limits.journalKnownBatchCount)} ids are known`)
    t.match(changes, `the first ${limits.failuresShownCount} bad rows`)
    t.match(text, `characters of a \`callback\` | ${limits.callbackCharCount} |`)
    t.match(text, `vertices of an outline | ${count(limits.outlineVertexCount)} |`)
    t.match(text, `shapes of an outline | ${limits.outlineMs / 1000} s |`)
    t.match(text, `wait for one HTTP thread | ${limits.outlinesQueuedCount} |`)
    const { contextPageDefaultCount, contextPageCount } = limits
    t.match(
      squeezed(read('docs/api/contexts.md')),
      `(default ${contextPageDefaultCount}, at most ${count(contextPageCount)})`,
    )
    t.match(text, `${limits.jsonDepthCount} levels`)
    t.match(text, `${count(limits.jsonMemberCount)}; ${count(limits.jsonItemCount)}`)
    t.match(text, `${limits.requestMs / 1000} s |`)
    t.match(text, `cut off after ${limits.clientStallMs / 1000} s`)
    t.match(text, `less than ${limits.clientBytesPerSecond / 1024} KiB a second`)
    t.match(text, `end of its body | ${limits.bodyMs / 1000} s, then 408 |`)
  },
)

t.test('the page about compactions has the limits of the program', async (t) => {
  const text = squeezed(read('docs/operations/compact.md'))
  const count = (value: number) => value.toLocaleString('en-US')
  t.match(text, `when ${count(limits.compactionChangeCount)} recipients have changed`)
  t.match(text, `more than ${count(limits.compactionHeldCount)} different recipients`)
  t.match(text, `its end, an hour at most`)
  t.equal(limits.compactionWaitMs, 3_600_000)
  t.match(text, `tries again after ${limits.compactionRetryMs / 1_000} seconds`)
  t.match(text, `${limits.compactionRetryMaxMs / 60_000} minutes at most`)
  t.match(text, `From ${limits.journalLargeBytes / 2 ** 30} GiB on`)
  t.match(text, `the last ${count(limits.journalKnownBatchCount)} batches`)
})

t.test('links between documents lead to a file, and to a heading in it', async (t) => {
  for (const document of documents) {
    for (const [, path, anchor] of withoutCode(read(document)).matchAll(
      /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g,
    )) {
      const target = path === '' ? document : join(dirname(document), path)
      t.ok(existsSync(join(root, target)), `${document} -> ${target}`)
      if (anchor === undefined) continue
      t.ok(anchorsOf(read(target)).includes(anchor), `${document} -> ${target}#${anchor}`)
    }
  }
})

t.test('pages are short', async (t) => {
  t.ok(pages.length > 12, 'pages are found')
  for (const page of pages) {
    const wordCount = read(page).split(/\s+/).length
    t.ok(wordCount < 1_200, `${page} has ${wordCount} words`)
  }
})

t.test('pages begin with a table of their contents', async (t) => {
  for (const page of new Set(['ARCHITECTURE.md', ...markdownIn('docs'), ...pages])) {
    const text = read(page)
    const [contents, ...others] = headingsOf(text, 2)
    t.equal(contents, 'Contents', page)
    const table = text.slice(text.indexOf('\n## Contents\n')).split('\n## ')[1] ?? ''
    t.match(table, /\]\(/, page)
    for (const heading of others) t.match(table, `(#${anchorOf(heading)})`, `${page}, ${heading}`)
  }
})

/** In the table of folders, sub-folders are named without these. */
const folders = ['src/geometry', 'src/shard', 'src/snapshot', 'src/sources']

t.test('the files that ARCHITECTURE.md sends its reader to exist', async (t) => {
  const paths = [...read('ARCHITECTURE.md').matchAll(/`((?:[\w-]+\/)+(?:[\w-]+\.ts)?)`/g)]
  t.ok(paths.length > 60, 'files and folders are found')
  for (const [, path] of paths) {
    const isThere = ['.', 'src', ...folders].some((from) => existsSync(join(root, from, path)))
    t.ok(isThere, path)
  }
})

t.test('the README is short and its commands exist', async (t) => {
  const text = read('README.md')
  t.ok(text.split('\n').length <= 151)
  const { scripts } = JSON.parse(read('package.json'))
  for (const [, script] of text.matchAll(/npm (?:run )?(start|test|\w+:\w+)/g)) {
    t.ok(scripts[script], script)
  }
})

t.test('the build makes each command of the package a program', async (t) => {
  for (const file of Object.values<string>(JSON.parse(read('package.json')).bin)) {
    t.equal(statSync(join(root, file)).mode & 0o111, 0o111, file)
  }
})

function isOfRequest([, code]: RegExpMatchArray): boolean {
  return code in errorTables.serviceErrors
}

function markdownIn(directory: string): string[] {
  return readdirSync(join(root, directory))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${directory}/${name}`)
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** Links and headings are none in blocks of code, nor between backticks. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
}

function headingsOf(markdown: string, depth: number): string[] {
  const blocksOut = markdown.replace(/^```[\s\S]*?^```$/gm, '')
  return [...blocksOut.matchAll(/^(#+) (.+)$/gm)]
    .filter(([, marks]) => marks.length === depth)
    .map(([, , heading]) => heading)
}

/** Where a heading is linked to, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function anchorsOf(markdown: string): string[] {
  return [1, 2, 3, 4].flatMap((depth) => headingsOf(markdown, depth)).map(anchorOf)
}
