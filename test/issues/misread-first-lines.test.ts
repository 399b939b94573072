/**
 * The first line of a file said what was wrong, and the message did not: a header in Windows-1252 was a
 * row of question marks, Excel's `sep=;` a header without names, UTF-32 was called UTF-16, and CSV for
 * `apply` was twenty lines that are not JSON.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LastChanges } from '../../src/changes/last-changes.js'
import { readChanges } from '../../src/changes/read-changes.js'
import type { FilesInput } from '../../src/sources/files/read-files.js'
import { readRows, rejectedLines } from '../support/data/read-files.js'

t.test(
  'a header that is not UTF-8 is said to be that, with its names and what to do',
  async (t) => {
    const text = 'Handy;Name;Breitengrad;Längengrad;Straße\n+9991;Jörg;1.5;2.5;x\n'
    const bytes = Buffer.from(text, 'latin1')
    const message =
      /is not UTF-8, .*--encoding windows-1252, .* Handy, Name, Breitengrad, Längengrad, Straße$/
    const columns = { number: 'Handy', lat: 'Breitengrad', lng: 'Längengrad' }
    for (const input of [{}, { columns }]) {
      await t.rejects(read(t, bytes, input), { code: 'InputRejected', message })
    }
    const { phones } = await read(t, bytes, { columns, encoding: 'windows-1252' })
    t.same(phones, ['+9991'])
    // Where the names that are needed are in ASCII, rows in ASCII are read, as before.
    const mixed = Buffer.from('number,lat,lng,Straße\n+9991,1,2,x\n', 'latin1')
    t.same((await read(t, mixed)).phones, ['+9991'])
    await t.rejects(read(t, Buffer.from('Händy,a,b\n')), { message: /no column "number"/ })
  },
)

t.test("Excel's line of the separator above the header is passed over", async (t) => {
  for (const [first, delimiter, lineEnd] of [
    ['sep=;', ';', '\r\n'],
    ['SEP=,', ',', '\n'],
    ['"sep=|"', '|', '\n'],
    ['sep=\t', '\t', '\r'],
    ['\uFEFFsep=;', ';', '\r\n'],
  ]) {
    const rows = [first, '', 'number,lat,lng', '+9991,1,2', '+9992,x,2', '+9993,3,4', '']
    const [mark, ...others] = rows
    const text = [mark, ...others.map((row) => row.replaceAll(',', delimiter))].join(lineEnd)
    const found = await read(t, Buffer.from(text))
    t.same([found.phones, rejectedLines(found)], [['+9991', '+9993'], { LatInvalid: [5] }], first)
  }
  const named = read(t, Buffer.from('sep=^\nnumber^lat^lng\n+9991^1^2\n'))
  await t.rejects(named, { message: /is there a header at all/ })
})

t.test('UTF-32 is called that, and UTF-16 is read still', async (t) => {
  const text = 'number,lat,lng\n+9991,1,2\n'
  for (const mark of ['', '\uFEFF']) {
    const words = Buffer.concat([...(mark + text)].map((one) => word(one)))
    for (const bytes of [words, Buffer.from(words).swap32()]) {
      await t.rejects(read(t, bytes), { message: /is UTF-32, .* save it as UTF-8/ })
    }
  }
  t.same((await read(t, Buffer.from(`\uFEFF${text}`, 'utf16le'))).phones, ['+9991'])
  const unmarked = read(t, Buffer.from(text, 'utf16le'))
  await t.rejects(unmarked, { message: /--encoding utf-16le/ })
})

t.test('CSV for changes is said to be CSV, once', async (t) => {
  const rules = { hasKeys: false, allowsNullIsland: false, numbers: undefined }
  for (const text of ['number,lat,lng\n+9991,1,2\n', '"number";"lat";"lng"\n', '+9991\t1\t2\n']) {
    const path = join(t.testdir({}), 'people.csv')
    writeFileSync(path, text)
    const failed = readChanges(path, rules, new LastChanges())
    await t.rejects(failed, {
      code: 'InputRejected',
      message: /people\.csv looks like CSV: import takes it, .* apply takes NDJSON/,
    })
  }
  const path = join(t.testdir({}), 'people.ndjson')
  writeFileSync(path, 'nonsense\n{"op":"delete","number":"+9991"}\n')
  const failed = readChanges(path, rules, new LastChanges())
  await t.rejects(failed, { message: /1 of 2 changes are bad: .*:1: it is not JSON/ })
})

function read(t: Test, content: Uint8Array, input: Partial<FilesInput> = {}) {
  const path = join(t.testdir({}), 'p.csv')
  writeFileSync(path, content)
  return readRows([path], input)
}

/** Of UTF-32, big end first. */
function word(character: string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(character.codePointAt(0) ?? 0)
  return bytes
}
