import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

// A first import that was killed between the renames of its snapshot and of CURRENT left a complete
// snapshot, from which imports of other sources did not start.

async function place(t: Test) {
  const data = join(temporaryDirectory(t), 'data')
  mkdirSync(data)
  const file = join(data, 'a.csv')
  writeFileSync(file, 'number,lat,lng\n+9991,1,2\n')
  const put = (source: number) => {
    const names = ['--source', `${source}`, '--label', `Source ${source}`]
    return hickoryHere('import', '--data', data, ...names, file)
  }
  t.match(await put(1), { code: 0 })
  return { data, put, ids: () => readdirSync(join(data, 'snapshots')) }
}

const sourceIdsOf = async (data: string) => (await openSnapshot(data)).sources.map(({ id }) => id)

t.test('an import of another source starts from a first one that was killed', async (t) => {
  const { data, put, ids } = await place(t)
  rmSync(join(data, 'CURRENT'))
  t.match(await put(2), { code: 0 })
  t.same(await sourceIdsOf(data), [1, 2])
  t.equal(ids().length, 2)
})

t.test('an import of the same rows makes it current', async (t) => {
  const { data, put, ids } = await place(t)
  rmSync(join(data, 'CURRENT'))
  t.match(await put(1), { code: 0, stdout: /^unchanged/m })
  t.same(await sourceIdsOf(data), [1])
  t.same(ids(), [readFileSync(join(data, 'CURRENT'), 'utf8').trim()])
})

t.test('a damaged one is not made current', async (t) => {
  const { data, put, ids } = await place(t)
  rmSync(join(data, 'CURRENT'))
  const path = join(data, 'snapshots', ids()[0], '1-0000.shard')
  const bytes = readFileSync(path)
  bytes[bytes.length - 1] ^= 1
  rmSync(path)
  writeFileSync(path, bytes)
  const { code, stderr } = await put(2)
  t.equal(code, 3)
  t.match(stderr, `hickory rollback --data ${data}`)
  t.match(stderr, /there is no CURRENT in .*so source 1 cannot be carried over/)
})

t.test('one of several is for an operator to choose', async (t) => {
  const { data, put } = await place(t)
  t.match(await put(2), { code: 0 })
  rmSync(join(data, 'CURRENT'))
  const { code, stderr } = await put(3)
  t.equal(code, 3)
  t.match(stderr, `hickory rollback --data ${data}`)
  t.match(await hickoryHere('rollback', '--data', data), { code: 0 })
  t.match(await put(3), { code: 0 })
  t.same(await sourceIdsOf(data), [1, 2, 3])
})
