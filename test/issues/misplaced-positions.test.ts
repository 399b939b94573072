/**
 * Every row of a file was rejected, for exchanged columns or for metres, and the message said no more
 * than that.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assertPublishable } from '../../src/commands/import/publishable.js'
import { readRows } from '../support/data/read-files.js'

const EXCHANGED = /exchanged, .* --lng as --lat/
const PROJECTED = /look projected, .* degrees of WGS 84/
const CASES: [positions: string[], said: RegExp, misplacement: string | undefined][] = [
  [['-95.3,29.7', '-95.4,29.8', '180,-90'], EXCHANGED, 'exchanged'],
  [['-10608000,3466000', '-10609000,3467000'], PROJECTED, 'projected'],
  [['-95.3,29.7', '-95.3,91'], /--dry-run shows/, undefined],
  [['-95.3,29.7', ',29.7'], /--dry-run shows/, undefined],
  [['-10608000,3466000', '-95.3,29.7'], /--dry-run shows/, undefined],
  [['200,29.7', '29.7,200'], /--dry-run shows/, undefined],
]

for (const [positions, said, misplacement] of CASES) {
  t.test(`rows at ${positions.join(' and ')}`, async (t) => {
    const path = join(t.testdir({}), 'a.csv')
    const rows = positions.map((position, at) => `+999${at},${position}\n`)
    writeFileSync(path, `number,lat,lng\n${rows.join('')}`)
    const report = await readRows([path])
    t.equal(report.misplacement, misplacement)
    const source = { isStrict: false } as Parameters<typeof assertPublishable>[0]
    const publish = () => assertPublishable(source, { report, outsideCount: 0 }, undefined)
    t.throws(publish, { code: 'InputRejected', message: said })
  })
}
