/**
 * Node.js 20.18.3 to 24.6 decode Windows-1252 as Latin-1 where a text is decoded at once. An alert was kept with
 * control characters in place of ’ – €, and a shapefile with them was refused with a reason that had nothing
 * to do with it. The code page in the header of a .dbf was not looked at, and some ways to write a .cpg were not known.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { textDecoder } from '../../src/text-decoder.js'
import { readXml, xmlText } from '../../src/xml/read-xml.js'
import { dbfOf, readAreas, square, writeShapefile } from '../gazetteer/files/area-files.js'
import { readRows } from '../support/data/read-files.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const REJECTED = { code: 'InputRejected' }

/** 0x80 to 0x9f as the Encoding Standard has them; five are no characters, but controls. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f' + '\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Written by the codecs of Python. */
const TEXTS: readonly (readonly [encoding: string, hex: string, text: string])[] = [
  ['windows-1250', 'a3f3649f208eefe17220f5', 'Łódź Žďár ő'],
  ['windows-1251', 'cee1ebe0f1f2fc20a5', 'Область Ґ'],
  ['windows-1252', '8c757672e920962091938e', 'Œuvré – ‘“Ž'],
  ['windows-1253', 'c1f4f4e9eade20b4fe', 'Αττική ΄ώ'],
  ['windows-1254', 'ddf064fd7220de696c65', 'İğdır Şile'],
  ['windows-1255', 'e9f8e5f9ece9ed', 'ירושלים'],
  ['windows-1256', 'c7e1dec7e5d1c92090', 'القاهرة گ'],
  ['windows-1257', 'd06961756c69616920ecfe', 'Šiauliai ģž'],
  ['windows-1258', 'd0f4cc6e67', 'Đô\u0300ng'],
  ['windows-874', 'a1c3d8a7e0b7be', 'กรุงเทพ'],
  ['ibm866', '8caee1aaa2a0', 'Москва'],
  ['koi8-r', 'edcfd3cbd7c1', 'Москва'],
  ['koi8-u', 'ebc9a7d7', 'Київ'],
  ['macintosh', '5a9f7269636820d020db', 'Zürich – €'],
  ['x-mac-cyrillic', '8ae8bbe2', 'Київ'],
  ['iso-8859-2', 'a3f364bc', 'Łódź'],
  ['iso-8859-5', 'bcdee1dad2d0', 'Москва'],
  ['iso-8859-7', 'c1e8deede1', 'Αθήνα'],
  ['iso-8859-15', 'a6bd757220a4b4', 'Šœur €Ž'],
  ['shift_jis', '938c8b9e9373', '東京都'],
  ['gbk', 'b1b1bea9cad0', '北京市'],
  ['euc-kr', 'bcadbfef', '서울'],
  ['big5', 'a578a55fa5ab', '台北市'],
  ['gb18030', 'b1b1bea9a2e3', '北京€'],
  ['utf-8', 'c5a07072c3bc', 'Šprü'],
]

t.test('each byte of Windows-1252 is its character, wherever texts are read', async (t) => {
  const bytes = Uint8Array.from({ length: 32 }, (_, at) => 0x80 + at)
  for (const options of [undefined, { fatal: true }]) {
    t.equal(textDecoder('windows-1252', options)(bytes), WINDOWS_1252)
    t.equal(textDecoder('iso-8859-1', options)(bytes), WINDOWS_1252)
  }
  // Without the five that have no character.
  const printed = bytes.filter((_, at) => WINDOWS_1252.charCodeAt(at) > 0x9f)
  const text = WINDOWS_1252.replace(/[\x80-\x9f]/g, '')
  t.equal(text.length, 27)
  for (const name of ['windows-1252', 'ISO-8859-1', 'latin1']) {
    const [before, after] = [`<?xml version="1.0" encoding="${name}"?><a>`, '</a>']
    const document = Buffer.concat([Buffer.from(before), printed, Buffer.from(after)])
    t.equal(xmlText(document, 'cap'), `${before}${text}${after}`)
    t.equal(readXml(document, 'cap').text, text)
  }
  const path = join(temporaryDirectory(t), 'a.csv')
  const rows = ['number;lat;lng;contact\n+9991;1;2;', printed, '\n'].map((part) =>
    Buffer.from(part),
  )
  writeFileSync(path, Buffer.concat(rows))
  t.same((await readRows([path], { encoding: 'windows-1252' })).contacts, [text])
  const areas = shapefile(t)
  for (const part of [printed.subarray(0, 14), printed.subarray(14)]) {
    const hex = Buffer.from(part).toString('hex')
    const decoded = [...part].map((byte) => WINDOWS_1252[byte - 0x80]).join('')
    t.equal(await areas.nameOf(hex), decoded)
    t.equal(await areas.nameOf(hex, { cpg: '1252' }), decoded)
  }
})

t.test('each encoding, by its own name and one text after another', async (t) => {
  const areas = shapefile(t)
  for (const [encoding, hex, text] of TEXTS) {
    const decode = textDecoder(encoding)
    for (const _ of [1, 2]) t.equal(decode(Buffer.from(hex, 'hex')), text, encoding)
    t.equal(await areas.nameOf(hex, { cpg: encoding }), text, encoding)
    t.equal(await areas.nameOf(hex, { told: encoding }), text, encoding)
  }
})

t.test('names of code pages, as programs write them', async (t) => {
  const areas = shapefile(t)
  const cases: readonly (readonly [names: readonly string[], hex: string, text: string])[] = [
    [
      ['65001', 'UTF8', 'utf-8', 'UTF_8', 'UTF 8', '\ufeffUTF-8', 'UTF-8\r\n', 'CP65001'],
      'c5a0',
      'Š',
    ],
    [
      ['1251', 'ANSI 1251', 'CP1251', 'cp-1251', 'windows-1251', 'WINDOWS 1251', 'win1251'],
      'ce',
      'О',
    ],
    [['1252', 'ANSI 1252', 'CP1252', '88591', '8859-1', 'ISO-8859-1', 'ISO8859_1'], '92', '’'],
    [['ISO 88591', 'latin1', 'iso88591'], 'e9', 'é'],
    [['885915', '8859-15', 'ISO 8859-15'], 'a4', '€'],
    [['88592', '8859_2'], 'a3', 'Ł'],
    [['866', 'OEM 866', 'CP866', 'IBM866'], '8c', 'М'],
    [['936', 'CP936', 'GBK', 'GB2312'], 'b1b1', '北'],
    [['950', 'Big5', 'ANSI 950'], 'a578', '台'],
    [['932', 'SJIS', 'Shift_JIS', 'MS932'], '938c', '東'],
    [['949', 'EUC-KR'], 'bcad', '서'],
    [['874', 'ANSI 874'], 'a1', 'ก'],
  ]
  for (const [names, hex, text] of cases) {
    for (const name of names) {
      t.equal(await areas.nameOf(hex, { cpg: name, driver: 0xc8 }), text, name)
      t.equal(await areas.nameOf(hex, { cpg: 'KOI8-R', told: name }), text, name)
    }
  }
  for (const name of [
    'OEM 437',
    '437',
    '850',
    'OEM',
    'ANSI',
    '885916',
    '885912',
    '1259',
    'x',
    '0',
  ]) {
    const message = `encoding that is not known, "${name}"`
    await t.rejects(areas.nameOf('41', { cpg: name }), { ...REJECTED, message }, name)
    await t.rejects(areas.nameOf('41', { told: name }), { ...REJECTED, message }, name)
  }
})

t.test('the language driver in the header counts where nothing else says it', async (t) => {
  const areas = shapefile(t)
  const drivers: readonly (readonly [drivers: readonly number[], hex: string, text: string])[] = [
    [[0x00, 0x03, 0x57, 0x58, 0x59], '92e980', '’é€'],
    [[0x26, 0x65], '8c', 'М'],
    [[0x50, 0x7c], 'a1', 'ก'],
    [[0x13, 0x7b], '938c', '東'],
    [[0x4d, 0x7a], 'b1b1', '北'],
    [[0x4e, 0x79], 'bcad', '서'],
    [[0x4f, 0x78], 'a578', '台'],
    [[0xc8], 'a3', 'Ł'],
    [[0xc9], 'cee1ebe0f1f2fc', 'Область'],
    [[0xca], 'dd', 'İ'],
    [[0xcb], 'c1', 'Α'],
    [[0xcc], 'd0', 'Š'],
    [[0x04], '9f', 'ü'],
    [[0x96], '8a', 'К'],
  ]
  for (const [numbers, hex, text] of drivers) {
    for (const driver of numbers) {
      t.equal(await areas.nameOf(hex, { driver }), text, `driver ${driver}`)
      t.equal(await areas.nameOf(hex, { driver, cpg: ' \n' }), text, 'an empty .cpg says nothing')
    }
  }
})

t.test('a code page that is not read is refused, but for ASCII', async (t) => {
  const areas = shapefile(t)
  for (const [driver, page] of [
    [0x01, 437],
    [0x02, 850],
    [0x1b, 437],
    [0x64, 852],
    [0x69, 620],
    [0x88, 857],
    [0x98, 10006],
  ]) {
    t.equal(await areas.nameOf('5a7572696368', { driver }), 'Zurich')
    const message = new RegExp(
      `in the code page ${page}, as the header.*, which is not read.*--encoding`,
    )
    await t.rejects(areas.nameOf('5a81', { driver }), { ...REJECTED, message })
    t.equal(await areas.nameOf('5afc', { driver, told: '1252' }), 'Zü')
  }
  for (const driver of [0x05, 0xff]) {
    t.equal(await areas.nameOf('41', { driver }), 'A')
    const message = new RegExp(`of the language driver ${driver}, as the header`)
    await t.rejects(areas.nameOf('81', { driver }), { ...REJECTED, message })
  }
})

t.test('a name with a control character is told from one that is too long', async (t) => {
  const data = temporaryDirectory(t)
  const write = (name: string, facts: { source?: string } = {}) => {
    const geometry = { type: 'Polygon', coordinates: [square(0, 0)] }
    const areas = [{ key: 'a', name, aliases: [], geometry }]
    return writeLayers(data, { set: [{ layer: 'zones', areas, ...facts }] })
  }
  for (const [name, message] of [
    [
      'Val d\x92Oise',
      /area 1 of zones \(a\) must have a name without U\+0092, .* not seen: .*--encoding/,
    ],
    ['one\ntwo', /without U\+000A, a line end/],
    ['\u202eabc', /without U\+202E/],
    ['\u{e0001}abc', /without U\+E0001/],
    [' ', /\(a\) must have a name that is not empty$/],
    ['x'.repeat(201), /\(a\) must have a name of at most 200 characters$/],
  ] as const) {
    await t.rejects(write(name), { ...REJECTED, message })
  }
  await t.rejects(write('a', { source: 'b\x85' }), {
    message: /source and licence of zones must have a text without U\+0085/,
  })
  // Joiners are parts of words of Persian and Sinhala.
  for (const name of ['می\u200cشود', 'ශ්\u200dරී ලංකා']) await write(name)
})

/** One area whose name has bytes of choice, beside what says how they are to be read. */
function shapefile(t: Test) {
  const stem = join(temporaryDirectory(t), 'areas')
  const path = writeShapefile(
    stem,
    [square(0, 0)].map((ring) => [ring]),
    ['a'],
  )
  return {
    async nameOf(
      hex: string,
      { cpg = '', told, driver = 0 }: { cpg?: string; told?: string; driver?: number } = {},
    ): Promise<string> {
      const table = dbfOf(['id', 'name'], [['a', Buffer.from(hex, 'hex').toString('latin1')]])
      table[29] = driver
      writeFileSync(`${stem}.dbf`, table)
      writeFileSync(`${stem}.cpg`, cpg)
      const name = { text: '{name}', parts: [{ field: 'name' }] }
      return (await readAreas(path, { name, encoding: told })).areas[0].name
    },
  }
}
