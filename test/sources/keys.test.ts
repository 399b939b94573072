import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { KeySet } from '../../src/sources/rows/key-set.js'
import { readRows, rejectedLines } from '../support/data/read-files.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

t.test('of rows with one key the first that is taken counts, over all files', async (t) => {
  const directory = t.testdir({})
  const paths = [
    [
      'id,number,lat,lng,contact',
      'a,+9991,91,2,c',
      'a,+9992,1,2,c',
      'a,+9993,1,2,c',
      ' ,+9994,1,2,',
    ],
    ['ID;number;lat;lng', 'b;+9995;1;2', ';+9996;1;2', 'a;+9997;1;2', 'c;+9998;1;2'],
    [
      `id,number,lat,lng`,
      `${'k'.repeat(limits.keyBytes)},1,1,2`,
      `${'k'.repeat(limits.keyBytes + 1)},2,1,2`,
    ],
  ].map((lines, index) => {
    const path = join(directory, `${index}.csv`)
    writeFileSync(path, lines.join('\n'))
    return path
  })
  const read = await readRows(paths, { columns: { key: 'id' } })
  t.same(read.phones, ['+9992', '+9995', '+9998', '1'])
  t.same(read.contacts, ['c', '', '', ''])
  t.same(rejectedLines(read), {
    LatOutOfRange: [2],
    KeyMissing: [5, 3],
    KeyTooLong: [3],
    KeyRepeated: [4, 4],
  })
  t.equal(read.rowCount, read.acceptedCount + read.rejectedCount)
})

t.test('without keys nothing is a repetition', async (t) => {
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, 'key,number,lat,lng\na,+9991,1,2\na,+9991,1,2\n')
  t.equal((await readRows([path])).acceptedCount, 2)
})

t.test('keys are the same as in a Set', async (t) => {
  const seed = testSeed(t)
  const keys = fc.sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), {
    seed,
    numRuns: byTier({ ci: 5_000, soak: 30_000 }),
  })
  const [known, model] = [new KeySet(), new Set<string>()]
  const wrong = keys.filter((key) => {
    const bytes = Buffer.from(` ${key} `)
    const isNew = !model.has(key)
    model.add(key)
    return known.add(bytes, 1, bytes.length - 1) !== isNew
  })
  t.equal(wrong.length, 0)
  t.ok(model.size < keys.length, 'some occur twice')
})

t.test('keys after a mark are forgotten, and may come again', async (t) => {
  const known = new KeySet()
  const add = (from: number, to: number) => {
    let addedCount = 0
    for (let i = from; i < to; i++) {
      const bytes = Buffer.from(`${'k'.repeat(400)}${i}`)
      if (known.add(bytes, 0, bytes.length)) addedCount++
    }
    return addedCount
  }
  t.equal(add(0, 50_000), 50_000)
  const mark = known.mark()
  t.equal(add(40_000, 150_000), 100_000, 'over several pages, in a table that grows')
  known.truncate(mark)
  t.equal(add(0, 150_000), 100_000)
  known.truncate({ page: 0, end: 0 })
  t.equal(add(0, 10), 10)
})
