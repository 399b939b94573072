/**
 * A backup that was cut off was refused without a reason on Node.js 22 and 24, where a stream of the web has the
 * fault of gzip within another one. An empty file, and a file that is no backup, were "truncated".
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import t from 'tap'
import { readArchive } from '../../src/backup/read-archive.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const EMPTY = 'it is empty'
const CUT = 'it is cut off'
const OTHER = 'it is another file, or too short for one'

t.test('why a file is no backup', async (t) => {
  const path = join(temporaryDirectory(t), 'backup')
  const reasonOf = async (bytes: Uint8Array): Promise<string> => {
    writeFileSync(path, bytes)
    const take = async (_: string, content: AsyncIterable<Uint8Array>) => {
      for await (const piece of content) piece.at(0)
    }
    const { code, message } = await readArchive(path, take, () => {}).then(
      () => t.fail('it is read') as never,
      (fault) => fault,
    )
    t.equal(code, 'InputRejected')
    const parts = /is not a whole backup: (.*)\. Nothing was taken from it; use another/.exec(
      message,
    )
    return parts?.[1] ?? message
  }
  // Larger than a block of zstd, which is handed over as a whole.
  const body = randomBytes(400_000)
  const tar = await packTar([{ header: { name: 'sources.json', size: body.length }, body }])
  const packed = {
    none: tar,
    gzip: gzipSync(tar),
    zstd: execFileSync('zstd', ['-q', '-c'], { input: tar }),
  }
  for (const [name, bytes] of Object.entries(packed)) {
    t.equal(await reasonOf(bytes.subarray(0, 0)), EMPTY, name)
    t.equal(await reasonOf(bytes.subarray(0, 1)), OTHER, name)
    for (const end of [200_001, bytes.length >> 1, -1_200, -1_025]) {
      t.equal(await reasonOf(bytes.subarray(0, end)), CUT, `${name}, ${end}`)
    }
  }
  // Within the head of the first file, and before the list; in the head and in the trailer of gzip.
  t.equal(await reasonOf(tar.subarray(0, 300)), OTHER)
  t.equal(await reasonOf(tar), 'it ends before hickory-backup.json')
  for (const end of [2, 9, 12, 100, -9, -8, -5, -4, -1]) {
    t.equal(await reasonOf(packed.gzip.subarray(0, end)), CUT, `gzip, ${end}`)
  }
  for (const end of [5, 9, 100, -4, -1]) {
    t.equal(await reasonOf(packed.zstd.subarray(0, end)), CUT, `zstd, ${end}`)
  }
  for (const bytes of [packed.gzip, packed.zstd]) {
    const damaged = Buffer.from(bytes)
    damaged[damaged.length - 6] ^= 0xff
    damaged[damaged.length - 2] ^= 0xff
    t.match(await reasonOf(damaged), /^it is damaged: \S/)
    t.match(await reasonOf(Buffer.concat([bytes, Buffer.from('more')])), /^it is damaged: \S/)
  }
  const others = ['number,lat,lng\n', 'x'.repeat(3_000), 'PK\x03\x04'.repeat(1_000)]
  for (const other of [...others, gzipSync('text'), gzipSync('')]) {
    t.equal(await reasonOf(Buffer.from(other)), OTHER)
  }
})
