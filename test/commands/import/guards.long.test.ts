import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { defaultGuards, readGuards } from '../../../src/commands/import/guards.js'
import { importCommand } from '../../../src/commands/import/import.js'
import { isInside } from '../../../src/commands/import/outside-count.js'
import { toUnits } from '../../../src/geometry/units.js'
import { limits } from '../../../src/limits.js'
import type { Box } from '../../../src/shard/layout.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { fingerprint, silentLog } from '../../support/data/snapshots.js'

const HEADER = 'number,lat,lng\n'

interface Place {
  readonly data: string
  readonly write: (name: string, content: string) => void
  readonly run: (...args: string[]) => Promise<{ exitCode: number; message: string; out: string }>
}

function place(t: Test): Place {
  const data = join(t.testdir({}), 'data')
  mkdirSync(data)
  return {
    data,
    write: (name, content) => writeFileSync(join(data, name), content),
    run: async (...args) => {
      const written = t.capture(process.stdout, 'write', () => true)
      const command = importCommand({ dataDirectory: () => data, log: silentLog })
      const failure = await command
        .exitOverride()
        .configureOutput({ writeErr: () => undefined })
        .parseAsync(args, { from: 'user' })
        .then(
          () => undefined,
          (error: Error & { exitCode?: number }) => error,
        )
      written.restore()
      const out = written().map((call) => String(call.args[0]))
      const exitCode = failure === undefined ? 0 : (failure.exitCode ?? Number.NaN)
      return { exitCode, message: failure?.message ?? '', out: out.join('') }
    },
  }
}

/** Rows at 1° north 2° east, of which the last ones have a latitude that is none. */
function rows(goodCount: number, badCount = 0): string {
  const row = (lat: number) => (_: unknown, at: number) => `+999${1000 + at},${lat},2\n`
  const good = Array.from({ length: goodCount }, row(1))
  return HEADER + good.concat(Array.from({ length: badCount }, row(91))).join('')
}

/** What is current afterwards, by source. */
async function countsOf(data: string): Promise<Record<number, number>> {
  const { sources } = await openSnapshot(data)
  return Object.fromEntries(sources.map(({ id, recipientCount }) => [id, recipientCount]))
}

t.test('too many rejected rows publish nothing, and the message says what would', async (t) => {
  const { data, write, run } = place(t)
  const file = join(data, 'a.csv')
  const source = ['--source', '1', '--label', 'One', file]
  const cases: [good: number, bad: number, flags: string[], found: RegExp | undefined][] = [
    [99, 1, [], undefined],
    [98, 2, [], /2 of 100 rows \(2 %\) were rejected, more than 1%; --max-rejected 2% lets/],
    [98, 2, ['--max-rejected', '2%'], undefined],
    [98, 2, ['--max-rejected', '2'], undefined],
    [98, 2, ['--max-rejected', '1'], /more than 1; --max-rejected 2 lets/],
    [2, 1, [], /1 of 3 rows \(33.33 %\) were rejected, more than 1%; --max-rejected 34% lets/],
    [999, 1, ['--max-rejected', '0.1%'], undefined],
    [998, 2, ['--max-rejected', '0.1%'], /\(0.2 %\)/],
    [99, 1, ['--max-rejected', '0'], /more than 0; --max-rejected 1 lets/],
  ]
  for (const [at, [good, bad, flags, found]] of cases.entries()) {
    write('a.csv', rows(good, bad))
    const before = fingerprint(data)
    if (at < 2) {
      const dry = await run(...flags, '--dry-run', '0', ...source)
      t.match(dry, found === undefined ? { exitCode: 0 } : { exitCode: 11, message: found })
      t.same(fingerprint(data), before)
    }
    const done = await run(...flags, ...source)
    if (found === undefined) t.equal(done.exitCode, 0, `${good} ${bad} ${flags}`)
    else {
      t.match(done, { exitCode: 11, message: found })
      t.notMatch(done.message, /\+9991/)
      t.same(Object.keys(fingerprint(data)), Object.keys(before))
    }
  }
})

t.test('a source does not shrink unasked, and may begin with any size', async (t) => {
  const { data, write, run } = place(t)
  const file = join(data, 'a.csv')
  const source = ['--source', '1', '--label', 'One', file]
  const steps: [count: number, flags: string[], found: RegExp | undefined][] = [
    [1000, [], undefined],
    [900, [], undefined],
    [
      809,
      [],
      /809 recipients would replace 900, 10.11 % less, and at most 10% .*--max-shrink 11% lets/,
    ],
    [1, [], /1 recipients would replace 900, 99.89 % less.*--max-shrink 100% lets/],
    [810, [], undefined],
    [800, ['--max-shrink', '9'], /--max-shrink 10 lets/],
    [800, ['--max-shrink', '10'], undefined],
    [440, ['--max-shrink', '45%'], undefined],
    [441, [], undefined],
  ]
  for (const [count, flags, found] of steps) {
    const [held] = Object.values(await countsOf(data).catch(() => ({}) as Record<number, number>))
    write('a.csv', rows(count))
    const done = await run(...flags, ...source)
    t.match(done, found === undefined ? { exitCode: 0 } : { exitCode: 11, message: found })
    t.same(await countsOf(data), { 1: found === undefined ? count : held })
  }
  write('a.csv', rows(1))
  t.equal((await run('--source', '2', '--label', 'Two', file)).exitCode, 0, 'another source')
  write('a.csv', rows(440, 2))
  t.match(await run('--max-rejected', '1%', '--max-shrink', '10%', ...source), { exitCode: 0 })
  write('a.csv', HEADER)
  t.equal((await run('--allow-empty', ...source)).exitCode, 0, 'empty when told so')
})

t.test('there is a least number of recipients', async (t) => {
  const { data, write, run } = place(t)
  const source = ['--source', '1', '--label', 'One', join(data, 'a.csv')]
  write('a.csv', rows(9))
  const found = /9 rows were accepted, and 10 are the least; --min-rows 9 lets/
  t.match(await run('--min-rows', '10', ...source), { exitCode: 11, message: found })
  write('a.csv', HEADER)
  t.match(await run('--min-rows', '1', ...source), { exitCode: 11, message: /0 rows/ })
  write('a.csv', rows(10))
  t.match(await run('--min-rows', '10', ...source), { exitCode: 0 })
})

t.test('recipients lie inside of a box, which may span the antimeridian', async (t) => {
  const { data, write, run } = place(t)
  const source = ['--source', '1', '--label', 'One', join(data, 'a.csv')]
  const places = [
    [1, 2],
    [1, 180],
    [1, -180],
    [-90, -179],
  ]
  write('a.csv', HEADER + places.map(([lat, lng], at) => `+99910${at},${lat},${lng}\n`).join(''))
  const cases: [box: string, outsideCount: number][] = [
    ['-180,-90,180,90', 0],
    ['2,1,2,1', 3],
    ['2.0000001,1,3,1', 4],
    ['170,-90,-170,90', 1],
    ['180,0,-179,1', 2],
    ['-180,0,-179,1', 2],
    ['2,-90,-179,1', 0],
    ['2,-89.9999999,-179,1', 1],
    ['3,-90,1,90', 1],
  ]
  for (const [box, outsideCount] of cases) {
    const { within } = readGuards({ within: box }, String, defaultGuards)
    const outside = places.filter(
      ([lat, lng]) => !isInside(within as Box, toUnits(lng), toUnits(lat)),
    )
    t.equal(outside.length, outsideCount, box)
  }
  for (const [box, outsideCount] of cases.slice(0, 2)) {
    const found = new RegExp(`: ${outsideCount} of 4 recipients \\(`)
    for (const flags of [['--dry-run', '0'], []]) {
      const done = await run('--within', box, ...flags, ...source)
      t.match(done, outsideCount === 0 ? { exitCode: 0 } : { exitCode: 11, message: found }, box)
    }
  }
})

t.test('every guard that trips is named', async (t) => {
  const { data, write, run } = place(t)
  const source = ['--source', '1', '--label', 'One', join(data, 'a.csv')]
  write('a.csv', rows(100))
  await run(...source)
  write('a.csv', rows(50, 50))
  const { exitCode, message } = await run('--min-rows', '60', '--within', '3,0,4,9', ...source)
  t.equal(exitCode, 11)
  for (const flag of ['max-rejected 50%', 'max-shrink 50%', 'min-rows 50', 'wider --within']) {
    t.match(message, flag)
  }
})

t.test('--all reads every source and names all that trip before any is published', async (t) => {
  const { data, write, run } = place(t)
  const list = (top: object, ...own: object[]) =>
    write(
      'sources.json',
      JSON.stringify({
        sources: own.map((members, at) => ({
          id: at + 1,
          label: `Source ${at + 1}`,
          files: [`${at + 1}.csv`],
          ...members,
        })),
        ...top,
      }),
    )
  for (const id of [1, 2, 3]) write(`${id}.csv`, rows(100))
  list({}, {}, {}, {})
  t.equal((await run('--all')).exitCode, 0)
  write('1.csv', rows(50))
  write('2.csv', rows(101))
  write('3.csv', rows(98, 2))
  const failed = await run('--all')
  t.match(failed, {
    exitCode: 11,
    message: /source 1: .*--max-shrink 50%.*; source 3: .*--max-rej/,
  })
  t.match(failed.out, /^ +2 +Source 2 +101 +101 +0 +not published$/m)
  t.same(await countsOf(data), { 1: 100, 2: 100, 3: 100 })
  t.match(await run('--all', '--dry-run', '0'), { exitCode: 11, message: /2 of 3 sources/ })

  t.match(await run('--all', '--keep-going'), { exitCode: 10, message: /2 of 3 .*: 1, 3$/ })
  t.same(await countsOf(data), { 1: 100, 2: 101, 3: 100 })

  list({ maxRejected: '2%' }, { maxShrink: '50%' }, {}, { maxRejected: 1 })
  t.match(await run('--all'), {
    exitCode: 11,
    message: /^source 3: [^;]*; --max-rejected 2 [^;]*$/,
  })
  list({ maxRejected: '2%', within: [0, 0, 2, 1] }, { maxShrink: '50%', minRows: 50 }, {}, {})
  t.equal((await run('--all')).exitCode, 0)
  t.same(await countsOf(data), { 1: 50, 2: 101, 3: 98 })

  write('1.csv', rows(10))
  t.equal((await run('--all')).exitCode, 11)
  t.equal(
    (await run('--all', '--max-shrink', '90%', '--min-rows', '10')).exitCode,
    0,
    'a flag wins',
  )

  for (const id of [1, 2, 3]) write(`${id}.csv`, rows(1))
  t.match(await run('--all', '--keep-going'), { exitCode: 11, message: /every source failed/ })
  write('3.csv', 'nothing')
  const message = /^source 3: .*; source 1: .*--max-shrink.*; source 2: /
  t.match(await run('--all'), { exitCode: 5, message }, 'what cannot be read counts first')
})

t.test('values of guards are checked at their bounds and one past', async (t) => {
  const { data, write, run } = place(t)
  write('a.csv', rows(1))
  const rowCount = limits.guardRowCount
  const cases: [flag: string, value: string, exitCode: number][] = [
    ['--max-rejected', '100%', 0],
    ['--max-rejected', '100.0001%', 2],
    ['--max-rejected', '0.0001 %', 0],
    ['--max-rejected', '0.00001%', 2],
    ['--max-rejected', `${rowCount}`, 0],
    ['--max-rejected', `${rowCount + 1}`, 2],
    ['--max-shrink', '-1', 2],
    ['--max-shrink', '1.5', 2],
    ['--max-shrink', '', 2],
    ['--min-rows', '0', 0],
    ['--min-rows', '1%', 2],
    ['--min-rows', `${rowCount + 1}`, 2],
    ['--within', '-180,-90,180,90', 0],
    ['--within', '-180.1,-90,180,90', 2],
    ['--within', '-180,-90.1,180,90', 2],
    ['--within', '0,2,3,1', 2],
    ['--within', '0,0,3', 2],
    ['--within', '0,,3,1', 2],
    ['--within', '0,0,3,1,', 2],
    ['--within', '0,0,3,north', 2],
  ]
  for (const [flag, value, exitCode] of cases) {
    const args = ['--source', '1', '--label', 'One', '--dry-run', '0', flag, value]
    const done = await run(...args, join(data, 'a.csv'))
    t.equal(done.exitCode, exitCode, `${flag} ${value}: ${done.message}`)
    if (exitCode === 2) t.match(done.message, new RegExp(`^${flag} is .*"${value.trim()}"`))
  }
  const members: [object, RegExp][] = [
    [{ maxShrink: '5' }, /^$/],
    [{ maxShrink: 5 }, /^$/],
    [{ maxShrink: 1.5 }, /sources\.json: \/sources\/0\/maxShrink is .*not "1\.5"/],
    [{ within: [1, 2, 3] }, /sources\.json: \/sources\/0\/within is .*"1,2,3" is not four/],
    [{ minRows: '5' }, /\/sources\/0\/minRows must be a number, not "5"/],
    [{ maxRejected: {} }, /\/sources\/0\/maxRejected must /],
  ]
  for (const [own, message] of members) {
    const sources = [{ id: 1, label: 'One', files: ['a.csv'], ...own }]
    write('sources.json', JSON.stringify({ sources }))
    t.match((await run('--all', '--dry-run', '0')).message, message, JSON.stringify(own))
  }
})
