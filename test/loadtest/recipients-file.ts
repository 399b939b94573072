/**
 * A CSV file of made-up recipients, as an import takes it.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { syntheticColumns } from '../../src/sources/synthetic/synthetic-columns.js'

/** Hands over the path of a file that is deleted afterwards. */
export async function withRecipientsFile(
  recipientCount: number,
  seed: number,
  use: (csvPath: string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-recipients-'))
  try {
    const csvPath = join(directory, 'recipients.csv')
    writeFileSync(csvPath, csvOf(recipientCount, seed))
    await use(csvPath)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function csvOf(recipientCount: number, seed: number): string {
  const { lngs, lats } = syntheticColumns({ recipientCount, seed, countries: ['US'] })
  const rows = Array.from(lngs, (lng, row) => {
    const phone = `+999${String(row).padStart(9, '0')}`
    return `${phone},${(lats[row] / 1e7).toFixed(7)},${(lng / 1e7).toFixed(7)},c${row}\n`
  })
  return ['number,lat,lng,contact\n', ...rows].join('')
}
