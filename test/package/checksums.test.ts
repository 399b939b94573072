import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeChecksums } from '../../src/package/checksums.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('each package of a folder has its line, and nothing else', async (t) => {
  const folder = temporaryDirectory(t)
  const packages = [
    'hickory-1.0.0-linux-x64.tar.gz',
    'hickory-1.0.0.tgz',
    'hickory_1.0.0_amd64.deb',
  ]
  for (const name of [...packages, 'hickory.txt', 'other.deb']) {
    writeFileSync(join(folder, name), `the bytes of ${name}`)
  }
  const sums = await writeChecksums(folder)
  t.same([...sums.keys()], packages)
  const lines = packages.map((name) => {
    const sum = createHash('sha256').update(`the bytes of ${name}`).digest('hex')
    return `${sum}  ${name}\n`
  })
  t.equal(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), lines.join(''))
})
