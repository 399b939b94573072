import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { limits } from '../../../src/limits.js'
import type { Encoding } from '../../../src/sources/text/encoding.js'
import { readRows, rejectedLines } from '../../support/data/read-files.js'

const TEXT =
  'number;lat;lng;contact\r\n+9991;1,5;-2,25;Müller\r\n\r\n+9992;x;2;ß\r\n+9993;3;4.5;é\r\n'
const CONTACTS = ['Müller', 'é']

function utf16(text: string, isBigEndian: boolean): Buffer {
  const bytes = Buffer.from(text, 'utf16le')
  return isBigEndian ? bytes.swap16() : bytes
}

t.test('a text of another encoding is read with its name', async (t) => {
  const cases: [encoding: Encoding | undefined, content: Buffer][] = [
    [undefined, Buffer.from(TEXT)],
    ['utf-8', Buffer.from(`\ufeff${TEXT}`)],
    ['windows-1252', Buffer.from(TEXT, 'latin1')],
    ['iso-8859-1', Buffer.from(TEXT, 'latin1')],
    ['utf-16le', utf16(TEXT, false)],
    ['utf-16be', utf16(TEXT, true)],
    ['utf-16le', utf16(`\ufeff${TEXT}`, false)],
    [undefined, utf16(`\ufeff${TEXT}`, false)],
    [undefined, utf16(`\ufeff${TEXT}`, true)],
    [undefined, gzipSync(utf16(`\ufeff${TEXT}`, false))],
  ]
  for (const [encoding, content] of cases) {
    const read = await readText(t, content, encoding)
    t.same(read.contacts, CONTACTS, String(encoding))
    t.same([...read.lats], [15_000_000, 30_000_000], String(encoding))
    t.same([...read.lngs], [-22_500_000, 45_000_000], String(encoding))
    t.same(rejectedLines(read), { LatInvalid: [4] }, String(encoding))
  }
})

t.test('the encodings of one byte differ where they should', async (t) => {
  const bytes = Buffer.concat([Buffer.from('number;lat;lng;contact\n+9991;1;2;'), Buffer.of(0x80)])
  t.same((await readText(t, bytes, 'windows-1252')).contacts, ['€'])
  t.same((await readText(t, bytes, 'iso-8859-1')).contacts, ['\u0080'])
})

t.test('a character that is cut in two by a piece is whole', async (t) => {
  const contact = '😀'.repeat(limits.contactBytes / 4)
  const text = `number;lat;lng;contact\n${`+9991;1;2;${contact}\n`.repeat(8_000)}`
  // With one of them, the first piece of a mebibyte ends within a character.
  for (const pad of ['', '\n']) {
    const read = await readText(t, utf16(pad + text, false), 'utf-16le')
    t.equal(read.acceptedCount, 8_000)
    t.ok(read.contacts.every((text) => text === contact))
  }
})

t.test('what is not of the encoding is refused, or names the flag', async (t) => {
  const odd = utf16(TEXT, false).subarray(0, -1)
  await t.rejects(readText(t, odd, 'utf-16le'), { message: /is not utf-16le: it is cut off/ })
  const half = utf16('number;lat;lng\n+9991;1;2\ud800', false)
  await t.rejects(readText(t, half, 'utf-16le'), { code: 'InputRejected' })
  await t.rejects(readText(t, utf16(`\ufeff${TEXT}`, false), 'utf-8'), { message: /is UTF-16/ })
  const unmarked = readText(t, utf16(TEXT, false))
  await t.rejects(unmarked, { message: /--encoding utf-16le/ })
  await t.rejects(readText(t, utf16(TEXT, true)), { message: /--encoding utf-16be/ })
  const { rejects } = await readText(t, Buffer.from(TEXT, 'latin1'))
  t.match(rejects[0], { reason: 'EncodingInvalid', count: 3 })
})

t.test('a decimal comma is one only when told so, and there is one only', async (t) => {
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, 'number;lat;lng\n+9991;29,76;-95,36\n+9992;1.029,7;2\n+9993;1,0,2;2\n')
  const read = await readRows([path], { rowOptions: { hasDecimalComma: true } })
  t.same([[...read.lats], [...read.lngs]], [[297_600_000], [-953_600_000]])
  t.same(rejectedLines(read), { LatInvalid: [3, 4] })
  t.equal((await readRows([path])).acceptedCount, 0)
})

function readText(t: Test, content: Buffer, encoding?: Encoding) {
  const path = join(t.testdir({}), 'text.csv')
  writeFileSync(path, content)
  return readRows([path], { encoding, rowOptions: { hasDecimalComma: true } })
}
