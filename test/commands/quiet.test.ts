/**
 * `--quiet`: what a timer starts prints nothing, unless somebody must look.
 *
 * @module
 */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('a night in which all is well is silent, and one in which it is not is told', async (t) => {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  const at = (name: string) => join(directory, name)
  writeFileSync(at('rows.csv'), 'number,lat,lng\n+9995550101,1,2\n+9995550102,3,4\n')
  writeFileSync(at('more.csv'), 'number,lat,lng\n+9995550101,1,2\n+9995550103,3,4\n')
  writeFileSync(at('list.txt'), '+9995550101\n')
  const source = ['--source', '1', '--label', 'Residents']
  const quiet = (name: string, ...args: string[]) =>
    hickoryHere(name, ...(name === 'generate' ? [] : ['--data', data]), '--quiet', ...args)
  const nights: [name: string, ...args: string[]][] = [
    ['import', ...source, at('rows.csv')],
    ['import', ...source, at('more.csv')],
    ['suppress', at('list.txt')],
    ['verify'],
    ['backup', at('b.tar.gz')],
    ['rollback'],
    ['generate', '--recipients', '10', '--out', at('made.csv')],
  ]
  for (const [name, ...args] of nights) {
    t.same(await quiet(name, ...args), { code: 0, stdout: '', stderr: '' }, name)
  }
  const restored = at('restored')
  const restore = await hickoryHere('restore', '--quiet', at('b.tar.gz'), '--data', restored)
  t.same(restore, { code: 0, stdout: '', stderr: '' })

  writeFileSync(at('strange.txt'), '9995550102\n')
  const warned = await quiet('suppress', at('strange.txt'))
  t.match(warned, { code: 0, stdout: '', stderr: /^hickory: warning: .* written with \+/ })
  t.match(await quiet('import', ...source, at('none.csv')), { code: 5, stdout: '', stderr: /none/ })
  t.match(await hickoryHere('verify', '--data', data), { stdout: /intact/ }, 'and then not')

  const [id] = readdirSync(join(data, 'snapshots')).sort()
  const shard = join(data, 'snapshots', id, '1-0000.shard')
  chmodSync(shard, 0o600)
  writeFileSync(shard, readFileSync(shard).subarray(1))
  t.match(await quiet('verify', id), { code: 4, stdout: '', stderr: /damaged: / })
})

t.test('who asks for output is not given silence', async (t) => {
  const data = temporaryDirectory(t)
  for (const [name, ...args] of [
    ['verify', '--json'],
    ['suppress', '--list'],
    ['suppress', '--count'],
    ['import', '--source', '1', '--dry-run', 'x.csv'],
    ['backup', '--json', 'x.tar'],
  ] as const) {
    const { code, stderr } = await hickoryHere(name, '--data', data, '--quiet', ...args)
    t.equal(code, 2)
    t.match(stderr, /option '--quiet' cannot be used with option '--/)
  }
})
