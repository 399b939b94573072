import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** One import replaced a population by one recipient, and three of them put it out of reach. */
t.test(
  'a population is neither replaced unasked nor out of reach when it was forced',
  async (t) => {
    const directory = temporaryDirectory(t)
    const data = join(directory, 'data')
    const file = join(directory, 'people.csv')
    const put = (count: number, version: number, ...flags: string[]) => {
      const rows = Array.from({ length: count }, (_, at) => `+999${at},${version},2\n`)
      writeFileSync(file, `number,lat,lng\n${rows.join('')}`)
      const source = ['--source', '1', '--label', 'Residents']
      return hickoryHere('import', '--data', data, ...source, ...flags, file)
    }
    const heldCount = async () => (await openSnapshot(data)).sources[0].recipientCount
    t.equal((await put(2_000, 1)).code, 0)
    t.equal((await put(1, 1)).code, 11)
    t.equal(await heldCount(), 2_000)
    for (let version = 1; version < 6; version++) {
      t.equal((await put(1, version, '--max-shrink', '100%')).code, 0)
    }
    t.equal(await heldCount(), 1)
    t.equal((await hickoryHere('rollback', '--good', '--data', data)).code, 0)
    t.equal(await heldCount(), 2_000)
  },
)

/** An import of the same rows expired every cursor, and took the place of an older snapshot. */
t.test('an import of what is current changes nothing', async (t) => {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  const file = join(directory, 'people.csv')
  writeFileSync(file, 'number,lat,lng\n+9991,1,2\n')
  const args = ['--data', data, '--source', '1', '--label', 'Residents', file]
  t.equal((await hickoryHere('import', ...args)).code, 0)
  const before = readFileSync(join(data, 'CURRENT'), 'utf8')
  t.equal((await hickoryHere('import', ...args)).code, 0)
  t.equal(readFileSync(join(data, 'CURRENT'), 'utf8'), before)
})
