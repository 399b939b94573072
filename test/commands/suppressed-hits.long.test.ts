/**
 * What `hickory suppress` says of the recipients that have the numbers, and what looks like a mistake.
 *
 * @module
 */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** Source 1 has +9990 to +9999, and source 2 has +9998 to +99917. */
const template = join(temporaryDirectory(t), 'data')
t.before(async () => {
  for (const [source, first] of [
    ['1', 0],
    ['2', 8],
  ] as const) {
    const rows = Array.from({ length: 10 }, (_, i) => `+999${first + i},${i + 1},${i}\n`)
    const path = join(temporaryDirectory(t), 'rows.csv')
    writeFileSync(path, `number,lat,lng\n${rows.join('')}`)
    const args = ['--data', template, '--source', source, '--label', source, path]
    const { code, stderr } = await hickoryHere('import', ...args)
    t.equal(code, 0, stderr)
  }
})

function world(t: Test) {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  cpSync(template, data, { recursive: true })
  return {
    directory,
    file(name: string, lines: readonly string[]): string {
      const path = join(directory, name)
      writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
      return path
    },
    run: (...args: string[]) => hickoryHere('suppress', '--data', data, ...args),
  }
}

/** The cells of the row of a file, without what is left of its name. */
function rowOf(stdout: string, name: string): string {
  const line = stdout.split('\n').find((line) => line.includes(`${name} `)) ?? ''
  return line.slice(line.indexOf(`${name} `) + name.length).replace(/ +/g, ' ')
}

t.test('each file is counted by itself, by source', async (t) => {
  const { file, run } = world(t)
  const a = file('a.txt', ['+9991', '+9998', '+9991', '+9999'])
  const b = file('b.txt', ['+9998', '+99900', '+99910', '+99911', '+9998'])
  const both = await run(a, b)
  t.equal(both.code, 0)
  t.equal(rowOf(both.stdout, 'a.txt'), ' 3 0 5 1: 3, 2: 2')
  t.equal(rowOf(both.stdout, 'b.txt'), ' 4 1 4 1: 1, 2: 3')
  t.equal(both.stderr, '')

  const one = await run('--source', '2', a)
  t.equal(rowOf(one.stdout, 'a.txt'), ' 3 1 2 2: 2', 'a list of one source concerns no other')
  const removed = await run('--remove', b)
  t.equal(rowOf(removed.stdout, 'b.txt'), ' 4 1 4 1: 1, 2: 3', 'whoever is suppressed by now')
})

t.test('numbers that nobody has are told, and how they would be found', async (t) => {
  const { file, run } = world(t)
  const cases: [lines: string[], warning: RegExp][] = [
    [['9991', '9992', '+9993'], /have 2 of its numbers written with \+\. /],
    [['0099910', '+9991'], /have 1 of its numbers written with \+ in place of 00\. /],
    [['+99 9(1)', '+9-99.2'], /have 2 of its numbers written without spaces and punctuation\. /],
    [['99 9(1)', '+9995'], /have 1 .* written without spaces and punctuation, with \+\. /],
    [['+777', '+778', '+9991'], /nobody has 2 of its 3 numbers: /],
  ]
  for (const [lines, warning] of cases) {
    const { code, stdout, stderr } = await run(file('list.txt', lines))
    t.equal(code, 0)
    t.match(stderr, new RegExp(`^hickory: warning: .*list\\.txt: .*${warning.source}`))
    t.equal(stderr.split('\n').length, 2, 'one line')
    t.notMatch(stdout + stderr, /999|777/, 'no number is quoted')
  }
  const half = await run(file('half.txt', ['+777', '+9991']))
  t.equal(half.stderr, '', 'lists have numbers that nobody has')
  const twice = await run(file('twice.txt', ['9991', '+9991']))
  t.equal(twice.stderr, '', 'the other notation is on the list, too')
})

t.test('of very many numbers that nobody has, a sample is tried', async (t) => {
  const { file, run } = world(t)
  const strange = Array.from({ length: limits.notationSampleCount }, (_, i) =>
    String(70_000_000 + i),
  )
  const all = await run(file('all.txt', [...strange.slice(1), '9991']))
  t.match(all.stderr, /have 1 of its numbers written with \+/)
  const more = await run(file('more.txt', ['9992', ...strange]))
  const tried = `of ${limits.notationSampleCount} that were tried`
  t.match(more.stderr, new RegExp(`have 1 of its numbers ${tried} written with`))
})

t.test('a source that is not there is told, and so is that there is no snapshot', async (t) => {
  const { directory, file, run } = world(t)
  const list = file('list.txt', ['+9991'])
  const { code, stderr } = await run('--source', '7', list)
  t.equal(code, 0)
  t.match(
    stderr,
    /^hickory: warning: the snapshot has no source 7 \(it has 1, 2\): the list is kept/,
  )
  t.match((await run('--count')).stdout, /source 7 1/)

  const empty = await hickoryHere('suppress', '--data', directory, list)
  t.match(empty.stdout, /^recipients +none: there is no snapshot yet$/m)
  t.same([empty.code, empty.stderr], [0, ''])
})

t.test('a snapshot that cannot be read does not keep a number off a list', async (t) => {
  const { directory, file, run } = world(t)
  writeFileSync(join(directory, 'data', 'CURRENT'), '000009-00000000\n')
  const { code, stderr } = await run(file('list.txt', ['+9991']))
  t.equal(code, 0)
  t.match(stderr, /warning: the change is stored, but the recipients were not counted: /)
  t.equal((await run('--list')).stdout, '+9991\n')
})
