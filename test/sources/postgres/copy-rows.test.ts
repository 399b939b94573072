import fc from 'fast-check'
import t from 'tap'
import { CopyRows } from '../../../src/sources/postgres/copy-rows.js'
import { testSeed } from '../../support/random/properties.js'

const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const END = Buffer.from([0xff, 0xff])

type Row = readonly (string | null)[]

function encode(row: Row): Buffer {
  const count = Buffer.alloc(2)
  count.writeInt16BE(row.length)
  const fields = row.map((text) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(text === null ? -1 : Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text ?? '')])
  })
  return Buffer.concat([count, ...fields])
}

function read(pieces: readonly Buffer[], fieldCount: number) {
  const rows: Row[] = []
  const copy = new CopyRows(fieldCount, (bytes, starts, ends) => {
    rows.push(
      Array.from(starts, (start, field) =>
        start === -1 ? null : bytes.toString('utf8', start, ends[field]),
      ),
    )
  })
  for (const piece of pieces) {
    const buffer = Buffer.from(piece)
    copy.push(buffer)
    // It may be used again by the library.
    buffer.fill(0)
  }
  return { rows, isEnded: copy.isEnded, rowCount: copy.rowCount }
}

const field = fc.option(fc.string({ unit: 'grapheme', maxLength: 12 }))

t.test('rows are the same wherever the bytes are cut', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(field, field, field), { maxLength: 8 }),
      fc.array(fc.nat({ max: 300 }), { maxLength: 12 }),
      (rows, cuts) => {
        const bytes = Buffer.concat([HEAD, ...rows.map(encode), END])
        const ends = [...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
        const pieces = ends.map((end, index) =>
          bytes.subarray(index === 0 ? 0 : ends[index - 1], end),
        )
        t.same(read(pieces, 3), { rows, isEnded: true, rowCount: rows.length })
      },
    ),
    { seed: testSeed(t), numRuns: 200 },
  )
})

t.test('what is cut short has no end', async (t) => {
  const bytes = Buffer.concat([HEAD, encode(['a', null]), encode(['b', 'c']), END])
  for (let length = 0; length < bytes.length; length++) {
    t.equal(read([bytes.subarray(0, length)], 2).isEnded, false)
  }
  t.equal(read([bytes], 2).isEnded, true)
})

t.test('what is not a copy is refused', async (t) => {
  const cases: [bytes: Buffer, message: RegExp][] = [
    [Buffer.from('COPY\n'.repeat(10)), /signature/],
    [Buffer.concat([HEAD, encode(['a', 'b', 'c'])]), /number of fields/],
    [Buffer.concat([HEAD, Buffer.from([0, 2, 0xff, 0xff, 0xff, 0xfe])]), /length/],
    [Buffer.concat([HEAD, END, encode(['a', 'b'])]), /end/],
  ]
  for (const [bytes, message] of cases) t.throws(() => read([bytes], 2), { message })
})
