import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importCommand } from '../../../src/commands/import/import.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { silentLog } from '../../support/data/snapshots.js'

const GOOD = 'number,lat,lng\n+9991,1,2\n+9992,1,2\n'
const MIXED = `${GOOD}+9993,x,2\n`

t.test('standard output is one document, with the counts of every source', async (t) => {
  const { data, run } = place(t, MIXED)
  const { report } = await run('--source', '7', '--label', 'People', '--max-rejected', '50%')
  const { id } = await openSnapshot(data)
  t.match(report, {
    ...{ dryRun: false, published: true, snapshotId: id, error: null },
    startedAt: /^\d{4}-.*Z$/,
    finishedAt: /^\d{4}-.*Z$/,
    seconds: Number,
  })
  const examples = [{ file: join(data, '../people.csv'), unit: 'line', place: 4 }]
  const meaning = 'the latitude is not a decimal number'
  t.match(report.sources, [
    {
      ...{ id: 7, label: 'People', published: true, failure: null },
      ...{ rowCount: 3, acceptedCount: 2, rejectedCount: 1, furtherLineCount: 0 },
      rejects: [{ reason: 'LatInvalid', count: 1, examples }],
    },
  ])
  t.ok(report.sources[0].rejects[0].meaning.startsWith(meaning))
})

t.test('a failure is in the document, and ends the command as ever', async (t) => {
  const { run } = place(t, MIXED)
  const flags = ['--source', '7', '--label', 'People']
  const cases: [flags: string[], code: string, exitCode: number, rowCount: number | null][] = [
    [[...flags, '--strict'], 'InputRejected', 5, 3],
    [flags, 'Guarded', 11, 3],
    [['--source', '7'], 'Usage', 2, null],
    [[...flags, '--number', 'none'], 'InputRejected', 5, null],
  ]
  for (const [given, code, exitCode, rowCount] of cases) {
    const { report, failure } = await run(...given)
    t.match(report, { published: false, snapshotId: null, error: { code, exitCode } })
    t.equal(report.error.message, failure?.message)
    t.match(report.sources, [{ id: 7, published: false, rowCount }])
  }
  const usage = await run('--source', '7', '--label', '')
  t.match(usage.report, { published: false, sources: [], error: { code: 'Usage' } })
})

t.test('a dry run and a list tell each source', async (t) => {
  const { data, run } = place(t, GOOD)
  const dry = await run('--source', '7', '--label', 'People', '--dry-run')
  t.match(dry.report, { dryRun: true, published: false, sources: [{ id: 7, acceptedCount: 2 }] })
  const sources = [
    { id: 1, label: 'A', files: ['../people.csv'] },
    { id: 2, label: 'B', files: ['none.csv'] },
  ]
  writeFileSync(join(data, 'sources.json'), JSON.stringify({ sources }))
  const { report } = await run('--all', join(data, 'sources.json'), '--keep-going')
  t.match(report, { published: true, error: { code: 'PartlyImported', exitCode: 10 } })
  t.match(report.sources, [
    { id: 1, label: 'A', published: true, failure: null, acceptedCount: 2 },
    { id: 2, label: 'B', published: false, failure: /does not exist/, rowCount: null },
  ])
})

function place(t: Test, content: string) {
  const directory = t.testdir({ 'people.csv': content })
  const data = join(directory, 'data')
  mkdirSync(data)
  return {
    data,
    async run(...args: string[]) {
      const written = t.capture(process.stdout, 'write', () => true)
      const command = importCommand({ dataDirectory: () => data, log: silentLog })
      const paths = args.includes('--all') ? [] : [join(directory, 'people.csv')]
      const failure = await command
        .parseAsync(['--json', ...args, ...paths], { from: 'user' })
        .then(
          () => undefined,
          (error: Error) => error,
        )
      written.restore()
      const out = written().map((call) => String(call.args[0]))
      return { report: JSON.parse(out.join('')), failure }
    },
  }
}
