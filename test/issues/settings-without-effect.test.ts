/**
 * Settings that were taken and did nothing, of commands; those of a service are in test/config.test.ts.
 *
 * @module
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const NOTHING_DONE = { code: 2, stdout: '' }

/** It said that shards are placed on "the machines that are members now", and published a snapshot. */
t.test('shards are moved within a cluster alone', async (t) => {
  const data = temporaryDirectory(t)
  const file = join(data, 'people.csv')
  writeFileSync(file, 'phone,lat,lng\n+9995550101,29.7,-95.3\n')
  const place = ['--data', join(data, 'store')]
  const imported = await hickoryHere('import', ...place, '--source', '1', '--label', 'A', file)
  t.equal(imported.code, 0)
  const snapshots = () => readdirSync(join(data, 'store', 'snapshots'))
  const before = snapshots()
  t.match(await hickoryHere('cluster', 'move', ...place), {
    ...NOTHING_DONE,
    stderr: /^hickory: .*store is of no cluster: name the data directory of a machine .*\n$/,
  })
  t.same(snapshots(), before)
})

t.test('commands of a cluster refuse what says nothing without --cluster', async (t) => {
  const place = ['--data', temporaryDirectory(t)]
  for (const [flag, value] of [
    ['--cluster-id', 'other'],
    ['--cluster-credentials', '/credentials'],
    ['--cluster-nkey', '/seed'],
    ['--cluster-tls-ca', '/ca.pem'],
  ]) {
    const stderr = new RegExp(`^hickory: ${flag} needs --cluster, .*\n$`)
    t.match(await hickoryHere('cluster', 'status', ...place, flag, value), {
      ...NOTHING_DONE,
      stderr,
    })
  }
})

t.test('variables of a service concern no other command, if each is right', async (t) => {
  const variables = { HICKORY_NAME: 'site-a', HICKORY_AUDIT_KEEP_DAYS: '7' }
  Object.assign(process.env, variables)
  t.teardown(() => Object.keys(variables).map((name) => delete process.env[name]))
  const outcome = await hickoryHere('verify', '--data', join(temporaryDirectory(t), 'none'))
  t.match(outcome.stderr, /none/)
  process.env.HICKORY_AUDIT_KEEP_DAYS = 'x'
  const refused = await hickoryHere('verify', '--data', temporaryDirectory(t))
  t.match(refused, { ...NOTHING_DONE, stderr: /^hickory: HICKORY_AUDIT_KEEP_DAYS must be/ })
})

/** The last one counted, and the first one was not even checked. */
t.test('an option that is given twice is refused, unless it collects', async (t) => {
  const place = ['--data', temporaryDirectory(t)]
  const calls: [flag: string, args: string[]][] = [
    ['--source', ['import', ...place, '--source', '1', '--source', '2', 'a.csv']],
    ['--port', ['serve', '--port', 'x', '--port', '0']],
    ['--keep', ['compact', ...place, '--keep', '2', '--keep', '3']],
    ['--data', ['verify', ...place, ...place]],
    ['--name', ['keys', 'create', ...place, '--name', 'a', '--name', 'b']],
    ['--all', ['import', ...place, '--all', 'a.json', '--all', 'b.json']],
  ]
  for (const [flag, args] of calls) {
    const stderr = `hickory: ${flag} is given twice: leave one of them out\n`
    t.same(await hickoryHere(...args), { ...NOTHING_DONE, stderr })
  }
  const layer = ['areas', 'import', ...place, '--layer', 'a', '--key', 'id']
  const aliases = ['--alias', 'A={id}', '--alias', 'B={id}']
  t.match((await hickoryHere(...layer, ...aliases, 'none.json')).stderr, /none.json does not exist/)
})

t.test('flags of a suppression list are refused where they do nothing', async (t) => {
  const data = temporaryDirectory(t)
  const file = join(data, 'numbers.txt')
  writeFileSync(file, '+9995550101\n')
  const calls: [args: string[], message: string][] = [
    [['--allow-empty', file], '--allow-empty goes with --replace'],
    [['--remove', '--allow-empty', file], '--allow-empty goes with --replace'],
    [['--list', '--allow-empty'], '--allow-empty goes with --replace'],
    [['--list', '--number', 'phone'], '--number and --normalize go with a FILE'],
    [['--count', '--normalize', 'e164:US'], '--number and --normalize go with a FILE'],
    [['--count', '--source', '1'], '--count tells of all lists: leave out --source'],
  ]
  for (const [args, message] of calls) {
    const stderr = `hickory: ${message}\n`
    t.same(await hickoryHere('suppress', '--data', data, ...args), { ...NOTHING_DONE, stderr })
  }
})

t.test('what is said of a file of areas that is of another kind is refused', async (t) => {
  const file = join(temporaryDirectory(t), 'areas.json')
  const coordinates = [[[1, 1], [2, 1], [2, 2], [1, 1]]] // biome-ignore format: one ring
  const geometry = { type: 'Polygon', coordinates }
  writeFileSync(file, JSON.stringify({ type: 'Feature', properties: { id: 'a' }, geometry }))
  const layer = ['areas', 'import', '--layer', 'a', '--key', 'id', '--dry-run']
  for (const [flag, value] of [
    ['--table', 'other'],
    ['--encoding', 'windows-1252'],
  ]) {
    const { code, stderr } = await hickoryHere(...layer, flag, value, file)
    t.equal(code, 5)
    t.match(
      stderr,
      new RegExp(`areas.json: it is geojson, of which ${flag} says nothing: leave it`),
    )
  }
  t.equal((await hickoryHere(...layer, '--format', 'geojson', file)).code, 0)
})

/** Of the same name twice, the last one counted. */
t.test('a list of sources has each name once, and may begin with a byte order mark', async (t) => {
  const data = temporaryDirectory(t)
  const list = join(data, 'list.json')
  writeFileSync(join(data, 'a.csv'), 'phone,lat,lng\n+9995550101,29.7,-95.3\n')
  const run = () => hickoryHere('import', '--data', data, '--dry-run', '--all', list)
  const source = '"id": 1, "label": "A", "files": ["a.csv"]'
  writeFileSync(list, `\ufeff{"sources": [{${source}, "columns": {"number": "phone"}}]}`)
  t.equal((await run()).code, 0)
  for (const [json, name] of [
    [`{"sources": [{${source}, "strict": true, "strict": false}]}`, 'strict'],
    [`{"keep": 2, "sources": [{${source}}], "k\\u0065ep": 3}`, 'keep'],
  ]) {
    writeFileSync(list, json)
    t.match(await run(), { ...NOTHING_DONE, stderr: /list.json has \w+ twice: leave one/ })
    t.match((await run()).stderr, `has ${name} twice`)
  }
})
