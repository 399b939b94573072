import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { changeList, countOf, phoneOf, placesWorld } from '../support/data/suppressions.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'

/**
 * The store says which services run on its data directory. A copy named the service of the original,
 * which never took a change of the copy: none was acknowledged while that service ran.
 */
t.test('changes to a copy of a data directory do not wait for the original', async (t) => {
  const data = await placesWorld(t)
  const original = await serve(t, '--data', data)
  const copy = join(temporaryDirectory(t), 'copy')
  execFileSync('cp', ['-a', data, copy])

  const list = join(temporaryDirectory(t), 'list.txt')
  writeFileSync(list, `${phoneOf(1)}\n`)
  const { code, stderr } = await hickory('suppress', '--data', copy, list)
  t.equal(code, 0, stderr)

  const service = await serve(t, '--data', copy)
  const { status } = await changeList(service, 'PUT', 'all', [phoneOf(2)])
  t.equal(status, 200)
  t.equal(await countOf(original), (await countOf(service)) + 2, 'each has lists of its own')
  const own = await changeList(original, 'PUT', 'all', [phoneOf(3)])
  t.equal(own.status, 200)
})
