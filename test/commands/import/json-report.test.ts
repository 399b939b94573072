import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importCommand } from '../../../src/commands/import/import.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { silentLog } from '../../support/data/snapshots.js'
import { hickoryHere } from '../../support/service/command-line.js'

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

t.test('a missing input is one document, of files and of a database', async (t) => {
  const { data, run } = place(t, GOOD)
  const missing = await run('--source', '7', '--label', 'P', join(data, 'none.csv'))
  t.match(missing.report, { published: false, error: { code: 'InputRejected', exitCode: 5 } })
  t.match(missing.report.error.message, /none\.csv does not exist/)
  const list = await run('--all')
  t.match(list.report, { published: false, sources: [], error: { code: 'Usage' } })
})

t.test(
  'standard output of the command is one document, whatever becomes of the import',
  async (t) => {
    const { data } = place(t, MIXED)
    const people = join(data, '../people.csv')
    const flags = ['import', '--data', data, '--json', '--source', '7', '--label', 'People']
    const cases: [args: string[], code: number, error: string | null][] = [
      [[people, '--max-rejected', '50%'], 0, null],
      [[people], 11, 'Guarded'],
      [[people, '--dry-run'], 11, 'Guarded'],
      [[people, '--strict'], 5, 'InputRejected'],
      [[join(data, 'none.csv')], 5, 'InputRejected'],
      [['--from', 'postgres://a@127.0.0.1:1/b', '--query', 'select 1'], 5, 'InputRejected'],
    ]
    for (const [args, code, error] of cases) {
      const done = await hickoryHere(...flags, ...args)
      t.equal(done.code, code, args.join(' '))
      // It throws if anything is before or behind the document.
      t.equal(JSON.parse(done.stdout).error?.code ?? null, error, args.join(' '))
      t.equal(done.stdout.at(-1), '\n')
      t.notMatch(done.stdout, /\+999/)
    }
  },
)

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
