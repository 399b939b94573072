import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startHickory, temporaryDirectory } from '../support/service/hickory.js'

t.test('a list with a password that others can read is warned about', async (t) => {
  const data = temporaryDirectory(t)
  const path = join(data, 'list.json')
  const write = (from: string) => {
    const sources = [{ id: 1, label: 'x', from, query: 'select 1' }]
    writeFileSync(path, JSON.stringify({ sources }))
  }
  const run = async () => {
    const { finished } = startHickory('import', '--data', data, '--all', path)
    return (await finished).stderr
  }
  write('postgres://u:secret@127.0.0.1:1/d')
  chmodSync(path, 0o640)
  const warned = await run()
  t.match(warned, /others can read this file/)
  t.notMatch(warned, 'secret')
  chmodSync(path, 0o600)
  t.notMatch(await run(), /others can read/)
  chmodSync(path, 0o644)
  write(`postgres://u:\${HOME}@127.0.0.1:1/d`)
  t.notMatch(await run(), /others can read/)
})
