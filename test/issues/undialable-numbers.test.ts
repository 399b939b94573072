import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importCommand } from '../../src/commands/import/import.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { rejectReasons } from '../../src/sources/rows/rejects.js'
import { phoneFault } from '../../src/sources/rows/row-rules.js'
import { readRows } from '../support/data/read-files.js'
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

/** These were taken byte for byte: what a spreadsheet puts before a text, zeros, and digits that no telephone has. */
t.test('what no telephone dials is rejected, from files and for changes', async (t) => {
  const texts = {
    NumberQuoted: ["'+9995550107", "'9995550107", '’9995550107', '"9995550107"', " '0"],
    NumberZero: ['0', '00', '+0', '-0', '0000000000', '000-000-0000', '(0)'],
    NumberForeignDigits: ['٩٩٩٥٥٥٠١٠١', '+９９９5550101', '९९९5550101'],
  }
  const kept = ['+9995550107', '0995550107', '000-000-0001', '100', "9995550107'"]
  const all = [...Object.values(texts).flat(), ...kept]
  const quoted = all.map((text) => `"${text.replaceAll('"', '""')}",1,2\n`)
  const path = join(t.testdir({}), 'people.csv')
  writeFileSync(path, `number,lat,lng\n${quoted.join('')}`)
  const read = await readRows([path])
  t.same(read.phones, kept)
  t.same(
    read.rejects.map(({ reason, count }) => [reason, count]),
    Object.entries(texts)
      .map(([reason, { length }]) => [reason, length])
      .sort(byOrder),
  )
  for (const [reason, numbers] of Object.entries(texts)) {
    for (const number of numbers) {
      const bytes = Buffer.from(number)
      t.equal(phoneFault(bytes, 0, bytes.length), reason, number)
    }
  }
  const normalized = await readRows([path], { rowOptions: { e164Region: 'US' } })
  t.match(normalized.rejects[0], { reason: 'NumberQuoted', count: texts.NumberQuoted.length })
})

/** Of the table of reasons. */
function byOrder([left]: readonly unknown[], [right]: readonly unknown[]): number {
  const order = Object.keys(rejectReasons)
  return order.indexOf(String(left)) - order.indexOf(String(right))
}

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
