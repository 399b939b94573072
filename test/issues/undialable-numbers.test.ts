import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importCommand } from '../../src/commands/import/import.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { silentLog } from '../support/data/snapshots.js'

/** Numbers that a spreadsheet had spoilt, and people who live nowhere, were imported as recipients. */
const ROWS = ['+9991,1,2', '9.99E+11,1,2', '#N/A,1,2', 'NULL,1,2', '+9992,0,0']

t.test('what cannot be warned is no recipient', async (t) => {
  t.same(await importedCount(t, []), 1)
})

t.test('the position 0,0 is taken with a flag, or a member of sources.json', async (t) => {
  t.same(await importedCount(t, ['--allow-null-island']), 2)
  const data = t.testdir({})
  writeFileSync(join(data, 'people.csv'), `number,lat,lng\n${ROWS.join('\n')}\n`)
  const source = { id: 1, label: 'People', files: ['people.csv'], allowNullIsland: true }
  writeFileSync(join(data, 'sources.json'), JSON.stringify({ sources: [source] }))
  await runImport(t, ['--data', data, '--all'])
  t.equal((await openSnapshot(data)).sources[0].recipientCount, 2)
})

async function importedCount(t: Test, flags: readonly string[]): Promise<number> {
  const data = t.testdir({})
  const path = join(data, 'people.csv')
  writeFileSync(path, `number,lat,lng\n${ROWS.join('\n')}\n`)
  await runImport(t, ['--data', data, '--source', '1', '--label', 'People', ...flags, path])
  return (await openSnapshot(data)).sources[0].recipientCount
}

async function runImport(t: Test, args: string[]): Promise<void> {
  const written = t.capture(process.stdout, 'write', () => true)
  try {
    const command = importCommand({ dataDirectory: (flag) => flag ?? '', log: silentLog })
    await command.parseAsync(['--max-rejected', '100%', ...args], { from: 'user' })
  } finally {
    written.restore()
  }
}
