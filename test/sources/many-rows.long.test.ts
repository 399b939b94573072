import { join } from 'node:path'
import t from 'tap'
import { readRows } from '../support/data/read-files.js'
import { type WrittenRow, writeEveryFormat } from '../support/data/recipient-files.js'

t.test('many rows, of short and long texts, are read as the same', async (t) => {
  const directory = t.testdir({})
  const rows = Array.from({ length: 60_000 }, (_, index) => ({
    number: `+999${'1234567890'.slice(0, index % 11)}${index}`,
    lat: (index % 1800) / 10 - 90,
    lng: (index % 3600) / 10 - 180,
    contact: index % 3 === 0 ? null : 'contact '.repeat(index % 5) + index,
  }))
  const names = await writeEveryFormat(directory, rows)
  for (const name of names) {
    const read = await readRows([join(directory, name)])
    t.equal(read.acceptedCount, rows.length, name)
    const isSame = (row: WrittenRow, at: number) =>
      row.number === read.phones[at] &&
      (row.contact ?? '') === read.contacts[at] &&
      Math.round((row.lat ?? 0) * 1e7) === read.lats[at] &&
      Math.round((row.lng ?? 0) * 1e7) === read.lngs[at]
    t.ok(rows.every(isSame), name)
  }
})
