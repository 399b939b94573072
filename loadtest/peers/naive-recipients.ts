/**
 * The recipients of the naive server: what a CSV file holds, lean enough for tens of millions.
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import { buildNaiveIndex, type NaiveIndex } from '../micro/harness/naive.js'

export interface NaiveRecipients extends NaiveIndex {
  phoneOf(row: number): string
}

/**
 * Reads the columns number, lat and lng, in this order, of a file with a header.
 *
 * @param firstRowCount  room for rows to begin with
 */
export async function readNaiveRecipients(
  csvPath: string,
  firstRowCount = FIRST_ROW_COUNT,
): Promise<NaiveRecipients> {
  let lngs = new Int32Array(firstRowCount)
  let lats = new Int32Array(firstRowCount)
  let textEnds = new Uint32Array(firstRowCount)
  let text = Buffer.alloc(firstRowCount * 16)
  let rowCount = -1
  for await (const line of createInterface({ input: createReadStream(csvPath) })) {
    if (rowCount++ < 0) continue
    const row = rowCount - 1
    if (row === lngs.length) {
      lngs = doubled(lngs, new Int32Array(2 * row))
      lats = doubled(lats, new Int32Array(2 * row))
      textEnds = doubled(textEnds, new Uint32Array(2 * row))
    }
    const [phone, lat, lng] = line.split(',', 3)
    lngs[row] = Math.round(Number(lng) * UNITS_PER_DEGREE)
    lats[row] = Math.round(Number(lat) * UNITS_PER_DEGREE)
    const start = row === 0 ? 0 : textEnds[row - 1]
    if (start + phone.length > text.length) text = doubled(text, Buffer.alloc(2 * text.length))
    textEnds[row] = start + text.write(phone, start, 'latin1')
  }
  const index = buildNaiveIndex({ lngs: lngs.slice(0, rowCount), lats: lats.slice(0, rowCount) })
  const phoneOf = (row: number) =>
    text.toString('latin1', row === 0 ? 0 : textEnds[row - 1], textEnds[row])
  return { ...index, phoneOf }
}

const FIRST_ROW_COUNT = 1 << 20

function doubled<Column extends Int32Array | Uint32Array | Uint8Array>(
  column: Column,
  larger: Column,
): Column {
  larger.set(column)
  return larger
}
