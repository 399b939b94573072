import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/**
 * Commands repeated the system ("EISDIR: illegal operation on a directory, read"), named no file, or said what
 * is wrong and not what to do.
 */
t.test('what the system refuses is told in words, with the file and what to do', async (t) => {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  const recipients = join(directory, 'r.csv')
  writeFileSync(recipients, 'number,lat,lng\n+9995550101,29.7,-95.3\n')
  const imported = await hickoryHere(
    'import',
    '--data',
    data,
    '--source',
    '1',
    '--label',
    'A',
    recipients,
  )
  t.equal(imported.code, 0)
  const folder = join(directory, 'folder')
  mkdirSync(folder)
  const loop = join(directory, 'loop')
  symlinkSync(loop, loop)
  const long = join(directory, 'x'.repeat(300))
  const wrong = [
    [join(directory, 'missing'), /does not exist: check its name and its directory/],
    [folder, /is a directory: name /],
    [join(recipients, 'x'), /is no directory, or lies below a file: check its name/],
    [loop, /is a link that leads to itself: name the file/],
    [long, /is too long for a name: choose a shorter one/],
  ] as const
  const key = ['keys', 'create', '--data', data, '--name', 'a', '--scopes', 'counts']
  for (const [file, words] of wrong) {
    for (const args of [
      ['import', '--data', data, '--source', '1', file],
      ['apply', '--data', data, '--source', '1', file],
      ['suppress', '--data', data, file],
      ['restore', '--data', join(directory, 'restored'), file],
      ['cap', file],
      [...key, '--boundary', file],
      [...key, '--certificate', file],
      ['cluster', 'status', '--cluster', 'nats://127.0.0.1:1', '--cluster-nkey', file],
    ]) {
      await refuses(args, file, words)
    }
    if (!file.endsWith('missing')) {
      await refuses(['import', '--data', data, '--all', file], file, words)
    }
  }
  const place = /cannot be written: its directory does not exist. Name another place/
  const absent = join(directory, 'none', 'f')
  const below = join(recipients, 'x')
  for (const [args, file, words] of [
    [['import', '--data', data, '--source', '1', recipients, '--rejects', absent], absent, place],
    [['generate', '--recipients', '1', '--out', absent], absent, place],
    [[...key, '--secret-file', absent], absent, place],
    // It makes the areas that every directory has first, which takes seconds.
    [
      ['areas', 'import', '--data', data, '--layer', 'a', '--key', 'k', below],
      below,
      /is no directory, or lies below a file/,
    ],
    // The key was made, and its secret was lost.
    [[...key, '--secret-file', folder], folder, /is a directory: name a file in it; no secret/],
    [
      ['restore', '--data', join(recipients, 'x'), recipients],
      recipients,
      /is there already and is no directory: name another place/,
    ],
    [
      ['import', '--data', data, '--source', '1', join(directory, 'none', '*.csv')],
      join('none', '*.csv'),
      /no file matches .*: check the pattern and its directory/,
    ],
  ] as const) {
    await refuses(args, file, words)
  }
  t.match((await hickoryHere('keys', 'list', '--data', data)).stdout, /there is no key yet/)

  async function refuses(args: readonly string[], file: string, words: RegExp): Promise<void> {
    const { code, stderr } = await hickoryHere(...args)
    const [last = ''] = stderr.trimEnd().split('\n').slice(-1)
    const called = args.slice(0, 2).join(' ')
    t.not(code, 0, called)
    t.ok(last.startsWith('hickory: ') && last.includes(file), `${called}: ${last}`)
    t.match(last, words, called)
    t.notMatch(last, /\bE[A-Z]{3,}\b|syscall/, called)
  }
})

t.test('a list of sources is told in words what it lacks', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'list.json')
  for (const [content, words] of [
    ['{}', 'the file lacks "sources": write it as `hickory import --help` shows'],
    ['[]', 'the file must be an object, as `hickory import --help` shows'],
    ['{"sources":[]}', '/sources must not be empty'],
    ['{"sources":{}}', '/sources must be a list, in brackets'],
    ['{"sources":[1]}', '/sources/0 must be an object, as `hickory import --help` shows, not 1'],
    ['{"sources":[{}]}', '/sources/0 lacks "id": write it as `hickory import --help` shows'],
    ['{"sources":[{"id":"1"}]}', '/sources/0/id must be a whole number, not "1"'],
    ['{"sources":[{"id":1,"files":[]}]}', '/sources/0/files must not be empty'],
    ['{"sources":[{"id":1,"files":[""]}]}', '/sources/0/files/0 must not be an empty text, not ""'],
    ['{"sources":[{"id":1,"strict":1}]}', '/sources/0/strict must be true or false, not 1'],
  ] as const) {
    writeFileSync(path, content)
    const { code, stderr } = await hickoryHere('import', '--data', directory, '--all', path)
    t.same({ code, stderr }, { code: 2, stderr: `hickory: ${path}: ${words}\n` }, content)
  }
})
