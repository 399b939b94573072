/** A file with a header alone was published as a new source without anybody, with exit code 0 and without a word. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'

t.test('a new source is not begun without a row unasked', async (t) => {
  const data = t.testdir({})
  const path = join(data, 'people.csv')
  const run = (...flags: string[]) =>
    hickoryHere('import', '--data', data, '--source', '1', '--label', 'People', ...flags, path)
  for (const rows of ['', '\n\n', '  \n', ',,\n']) {
    writeFileSync(path, `number,lat,lng\n${rows}`)
    const { code, stderr } = await run('--max-rejected', '100%')
    t.equal(code, 5, JSON.stringify(rows))
    t.match(stderr, /nothing was published/)
  }
  writeFileSync(path, 'number,lat,lng\n')
  t.match((await run()).stderr, /the files have no row, .*--allow-empty/)
  t.equal((await run('--allow-empty')).code, 0)
  t.equal((await run()).code, 0, 'an empty source may stay so')
})
