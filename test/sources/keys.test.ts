import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { KeySet } from '../../src/sources/rows/key-set.js'
import { readRows, rejectedLines } from '../support/data/read-files.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'

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
  const random = seededRandom(testSeed(t))
  const sign = () => String.fromCodePoint(random.pick([random.between(0, 0x7f), 0xe9, 0x1f600]))
  const keys = Array.from({ length: 30_000 }, () =>
    Array.from({ length: random.between(1, 3) }, sign).join(''),
  )
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
  const bytes = Buffer.alloc(2_006, 'k')
  const add = (from: number, to: number) => {
    let addedCount = 0
    for (let i = from; i < to; i++) {
      bytes.write(String(i).padStart(6, '0'), 2_000, 'latin1')
      if (known.add(bytes, 0, bytes.length)) addedCount++
    }
    return addedCount
  }
  t.equal(add(0, 10_000), 10_000)
  const mark = known.mark()
  t.equal(add(8_000, 30_000), 20_000, 'over several pages, in a table that grows')
  known.truncate(mark)
  t.equal(add(0, 30_000), 20_000)
  known.truncate({ page: 0, end: 0 })
  t.equal(add(0, 10), 10)
})
