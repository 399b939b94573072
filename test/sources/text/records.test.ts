import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { awkwardCsv, csvRecords, isTaken } from '../../oracle/rfc4180.js'
import { withCsvReader } from '../../support/data/read-files.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

t.test('whatever RFC 4180 allows is read, each record on its line', async (t) => {
  const seed = testSeed(t)
  const path = join(t.testdir({}), 'a.csv')
  const counts = { accepted: 0, rejected: 0, rejectedLong: 0 }
  await withCsvReader(path, async (read) => {
    const property = fc.asyncProperty(awkwardCsv, async (file) => {
      const [header, ...records] = recordsOf(file.text, file.delimiter) ?? []
      writeFileSync(path, file.text)
      const { phones, contacts, rejectedLines } = await read()
      const taken = records.filter(({ fields }) => isTaken(header.fields, fields))
      const others = records.filter((record) => !taken.includes(record))
      const values = (name: string) =>
        taken.map(({ fields }) => fields[header.fields.indexOf(name)])
      t.same(phones, values('number'))
      t.same(contacts, values('contact'))
      t.same(
        rejectedLines.toSorted((a, b) => a - b),
        others.map(({ line }) => line),
      )
      const isLong = ({ fields }: { readonly fields: readonly string[] }) =>
        fields.some((field) => /[\r\n]/.test(field))
      counts.accepted += taken.length
      counts.rejected += others.length
      counts.rejectedLong += others.filter(isLong).length
    })
    await fc.assert(property, { seed, numRuns: byTier({ ci: 12, soak: 3_000 }) })
  })
  t.comment(JSON.stringify(counts))
  const least = byTier({ ci: 0, soak: 5 })
  t.ok(counts.accepted > least && counts.rejectedLong > least)
})

t.test(
  'a stray quotation mark takes no other row with it: rather, the file is refused',
  async (t) => {
    const seed = testSeed(t)
    const path = join(t.testdir({}), 'a.csv')
    const counts = { refused: 0, taken: 0 }
    await withCsvReader(path, async (read) => {
      const property = fc.asyncProperty(
        awkwardCsv,
        fc.nat(),
        fc.boolean(),
        async ({ text, delimiter }, place, isDeleted) => {
          const [header, ...records] = recordsOf(text, delimiter) ?? []
          const start = text.search(/[\r\n]/)
          const marks = [...text.matchAll(/"/g)].map(({ index }) => index)
          const at =
            isDeleted && marks.length > 0
              ? marks[place % marks.length]
              : start + (place % (text.length - start))
          const spoilt =
            text.slice(0, at) + (isDeleted ? '' : '"') + text.slice(isDeleted ? at + 1 : at)
          writeFileSync(path, spoilt)
          const found = await read().catch((error) => error)
          if (found instanceof Error) {
            t.match(found, { code: 'InputRejected' })
            counts.refused++
            return
          }
          counts.taken++
          const spoiltLine = text.slice(0, at).split(/\r\n|\r|\n/).length
          const index = records.findLastIndex(({ line }) => line <= spoiltLine)
          const missing = records.filter(
            ({ fields }, row) =>
              row !== index &&
              isTaken(header.fields, fields) &&
              !found.phones.includes(fields[header.fields.indexOf('number')]),
          )
          t.same(missing, [], JSON.stringify(spoilt))
        },
      )
      await fc.assert(property, { seed, numRuns: byTier({ ci: 12, soak: 3_000 }) })
    })
    t.comment(JSON.stringify(counts))
    t.ok(counts.refused > 0 && counts.taken > 0)
  },
)

function recordsOf(text: string, delimiter: string) {
  return csvRecords(text.replace('\uFEFF', ''), delimiter)
}
