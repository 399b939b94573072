import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { dist } from '../runner/files.js'
import { areaOf, filesOf, soakFiles } from './area-files.js'
import { areas } from './areas.js'
import { choose } from './choice.js'
import { debts } from './debts.js'

const root = join(dist, '..')

t.test('every test file with loops for the soak belongs to an area', async (t) => {
  const files = soakFiles()
  t.ok(files.length > 80, `${files.length} are found`)
  t.same(
    files.filter((file) => areaOf(file) === undefined),
    [],
  )
})

t.test('every area has files or a program, and no path is of two areas', async (t) => {
  const paths: string[] = []
  const names = areas.map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
  for (const area of areas) {
    if ('program' in area.round) {
      t.ok(existsSync(join(root, area.round.program)), area.round.program)
      continue
    }
    const files = filesOf(area)
    t.ok(files.length > 0, area.name)
    for (const path of area.round.tests) {
      t.ok(
        files.some((file) => `${file}/`.startsWith(`${path}/`)),
        `${area.name} has files of ${path}`,
      )
    }
    paths.push(...area.round.tests)
  }
  t.equal(new Set(paths).size, paths.length)
})

t.test('every folder of src owes areas once, and every area is owed or named', async (t) => {
  const folders = readdirSync(join(root, 'src')).filter((name) =>
    statSync(join(root, 'src', name)).isDirectory(),
  )
  t.same(debts.flatMap((debt) => debt.folders).sort(), folders.sort())
  const owed = new Set(debts.flatMap((debt) => debt.areas))
  for (const { name, isOnlyNamed } of areas) t.ok(owed.has(name) || isOnlyNamed, name)
  for (const name of owed)
    t.ok(
      areas.some((area) => area.name === name),
      name,
    )
})

t.test('CONTRIBUTING.md has what a change owes, as the soak knows it', async (t) => {
  const rows = debts.map(
    ({ folders, areas, minutes }) =>
      `| ${folders.map((folder) => `\`${folder}\``).join(', ')} | ${areas.join(', ')} | ${minutes} |`,
  )
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const [, table] =
    /\| folder of `src` \| areas \| minutes \|\n\|[-|]+\n((?:\|.*\n)+)/.exec(text) ?? []
  t.equal(table, `${rows.join('\n')}\n`)
})

t.test('a soak is chosen by areas, or by folders with what they owe', async (t) => {
  const chosen = (...args: string[]) => {
    const choice = choose(args)
    if (typeof choice === 'string') throw new Error('a choice is expected')
    return { ...choice, areas: choice.areas.map(({ name }) => name) }
  }
  t.same(chosen('model', 'oracle', '--minutes', '5', '--seed', '7'), {
    areas: ['oracle', 'model'],
    minutes: 5,
    seed: 7,
  })
  const { areas: owed, minutes } = chosen('src/audiences', 'damage')
  t.same(owed, ['live', 'damage', 'audiences'])
  t.equal(minutes, 30)
  const { areas: all } = chosen()
  for (const { name, isOnlyNamed } of areas) t.equal(all.includes(name), !isOnlyNamed, name)
  t.match(choose(['--list']), /^cluster .* Needs root, nats-server/m)
  for (const wrong of [['nothing'], ['src/nothing'], ['--minutes', 'few'], ['--seed', '-1']]) {
    t.throws(() => choose(wrong))
  }
})
