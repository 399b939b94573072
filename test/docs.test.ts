import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/api.md',
  'docs/errors.md',
  'docs/operations.md',
  'docs/benchmarks.md',
  'docs/snapshot-format.md',
  'loadtest/README.md',
]

t.test('docs/errors.md has exactly the errors of the code', async (t) => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \|/gm)]
  const documented = Object.fromEntries(rows.map(([, code, number]) => [code, Number(number)]))
  t.same(documented, { ...errorTables.serviceErrors, ...errorTables.operatorErrors })
})

t.test('docs/operations.md has every setting, its flag and its variable', async (t) => {
  const text = read('docs/operations.md')
  const names = [...text.matchAll(/^\| `--([\w-]+)[ `].*\| `(HICKORY_\w+)` \| .* \| `(\w+)` \|$/gm)]
  t.equal(names.length, Object.keys(readConfig({}, {})).length)
  for (const [, flag, variable] of names) {
    t.equal(variable, `HICKORY_${flag.replaceAll('-', '_').toUpperCase()}`)
  }
})

t.test('docs/operations.md has the times that a new snapshot is taken in', async (t) => {
  const text = read('docs/operations.md')
  t.equal(limits.snapshotPollMs, 1_000)
  t.match(text, 'Each second the service looks')
  t.match(text, `is tried again after ${limits.snapshotRetryMs / 1000} seconds`)
  t.match(text, `After ${limits.snapshotReleaseMs / 1000} seconds a list`)
})

t.test('docs/operations.md has what an import waits for', async (t) => {
  const text = read('docs/operations.md')
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

t.test('docs/api.md has every path and the bounds of the code', async (t) => {
  const text = read('docs/api.md')
  for (const path of Object.values(operations).flatMap(({ paths }) => paths)) {
    t.ok(text.includes(`\`${path}\``), path)
  }
  const count = (value: number) => value.toLocaleString('en-US')
  const { featureCount, ringCount, vertexCount } = limits
  t.match(text, `${count(featureCount)}, ${count(ringCount)}, ${count(vertexCount)}`)
  t.match(text, `arcs of circles, corridors and margins | ${count(limits.arcCount)} |`)
  t.match(text, `features with \`nearest\` | ${limits.nearestFeatureCount} |`)
  t.match(text, `1 to ${count(limits.nearestCount)} |`)
  t.match(text, `recipients of a page (\`limit\`) | ${count(limits.pageRecipientCount)} |`)
  t.match(text, `ids in a list of \`sources\` | ${limits.sourceCount} |`)
  t.match(text, `| body | ${limits.bodyBytes / 2 ** 20} MiB |`)
  t.match(text, `${count(limits.batchRequestCount)}; ${limits.batchHeldBytes / 2 ** 20} MiB |`)
  t.match(text, `${count(limits.areaCount)}; ${count(limits.contextNameCharCount)} |`)
  const { contextCount, storedAreaCount, storedBytes } = limits
  t.match(text, `${count(contextCount)}; ${count(storedAreaCount)}; ${storedBytes / 2 ** 30} GiB |`)
  const { suppressionBatchCount, suppressionCount, suppressionListCount } = limits
  const listCounts = [suppressionBatchCount, suppressionCount, suppressionListCount]
  t.match(text, `lists | ${listCounts.map(count).join('; ')} |`)
  t.match(
    text,
    `(default ${limits.suppressionPageDefaultCount}, at most\n${count(limits.suppressionPageCount)})`,
  )
  t.match(text, `not taken it within ${limits.suppressionTakeMs / 1000} seconds`)
  t.match(text, `characters of a \`callback\` | ${limits.callbackCharCount} |`)
  t.match(text, `vertices of an outline | ${count(limits.outlineVertexCount)} |`)
  t.match(text, `shapes of an outline | ${limits.outlineMs / 1000} s |`)
  t.match(text, `wait for one HTTP thread | ${limits.outlinesQueuedCount} |`)
  const { contextPageDefaultCount, contextPageCount } = limits
  t.match(text, `(default ${contextPageDefaultCount}, at most ${count(contextPageCount)})`)
  t.match(text, `${limits.jsonDepthCount} levels`)
  t.match(text, `${count(limits.jsonMemberCount)}; ${count(limits.jsonItemCount)}`)
  t.match(text, `${limits.requestMs / 1000} s |`)
  t.match(text, `cut off after ${limits.clientStallMs / 1000} s`)
  t.match(text, `less than ${limits.clientBytesPerSecond / 1024} KiB a second`)
  t.match(text, `end of its body | ${limits.bodyMs / 1000} s, then 408 |`)
})

t.test('links between documents lead somewhere', async (t) => {
  for (const document of documents) {
    for (const [, target] of read(document).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      t.ok(existsSync(join(root, dirname(document), target)), `${document} -> ${target}`)
    }
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
