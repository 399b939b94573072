import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { importPlace } from '../support/data/import-place.js'
import { hickoryHere } from '../support/service/command-line.js'

/** The rejected rows replaced the file that somebody had corrected, where a pattern or a link named it. */
t.test('the file of rejected rows never replaces one that is read', async (t) => {
  const { data, at } = importPlace(t)
  const corrected =
    'source,file,unit,place,reason,number,lat,lng\n1,x,line,1,LatInvalid,+9991,1,2\n'
  writeFileSync(at('rejected.csv'), corrected)
  symlinkSync(at('rejected.csv'), at('link.csv'))
  const source = ['--data', data, '--source', '1', '--label', 'Residents']
  for (const given of [[at('rej*.csv')], [at('link.csv')], [at('r*.csv'), at('rej*.csv')]]) {
    const run = await hickoryHere('import', ...source, '--rejects', at('rejected.csv'), ...given)
    t.match(run, { code: 2, stderr: /rejected\.csv is also to be read/ })
    t.equal(readFileSync(at('rejected.csv'), 'utf8'), corrected)
  }
})

/** The recipients of one source took the place of those of another without a word. */
t.test('an import that gives a source another name warns of it', async (t) => {
  const { data, at, put } = importPlace(t)
  put(20, 0)
  const run = (label: string) =>
    hickoryHere('import', '--data', data, '--source', '1', '--label', label, at('people.csv'))
  t.notMatch(await run('Residents'), { stderr: /warning/ })
  t.notMatch(await run('Residents'), { stderr: /warning/ })
  t.match(await run('Members'), {
    code: 0,
    stderr: /warning: source 1 was called "Residents" and becomes "Members"/,
  })
})

/** A cron run that fell back to an older snapshot said nothing. */
t.test('a rollback that passes over a damaged snapshot tells it with --quiet, too', async (t) => {
  const { data, at, put } = importPlace(t)
  const ids: string[] = []
  for (let version = 0; version < 3; version++) {
    put(20, version)
    const source = ['--source', '1', '--label', 'Residents']
    await hickoryHere('import', '--data', data, ...source, at('people.csv'))
    ids.push(readFileSync(join(data, 'CURRENT'), 'utf8').trim())
  }
  writeFileSync(join(data, 'snapshots', ids[1], 'repeats'), 'nonsense')
  const { code, stdout, stderr } = await hickoryHere('rollback', '--quiet', '--data', data)
  t.same({ code, stdout }, { code: 0, stdout: '' })
  t.match(stderr, new RegExp(`^hickory: warning: ${ids[1]} is damaged: repeats: .*\n$`))
})

/** A directory named like a setting failed the backup, and a pipe stopped it for ever. */
t.test(
  'a backup has the files among the settings alone, and goes where a link leads',
  async (t) => {
    const { data, at, put } = importPlace(t)
    put(20, 0)
    await hickoryHere('import', '--data', data, '--source', '1', '--label', 'R', at('people.csv'))
    mkdirSync(join(data, 'old.json'))
    writeFileSync(at('list.json'), '{}')
    symlinkSync(at('list.json'), join(data, 'sources.json'))
    t.match(await hickoryHere('backup', '--data', data, at('b.tar')), { code: 0, stderr: '' })
    mkdirSync(at('disk'))
    symlinkSync(at('disk'), at('restored'))
    const restored = await hickoryHere('restore', '--quiet', at('b.tar'), '--data', at('restored'))
    t.same(restored, { code: 0, stdout: '', stderr: '' })
    t.same(readdirSync(at('disk')).sort(), ['CURRENT', 'snapshots', 'sources.json'])
  },
)
