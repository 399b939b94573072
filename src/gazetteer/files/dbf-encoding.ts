/**
 * The encoding of the texts in a dBASE table: what the operator names, else what the .cpg says, else the language
 * driver in the header of the table. Programs write all three in many ways.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { type DecodeText, encodingOf, textDecoder } from '../../text-decoder.js'
import { refuse } from './area-file.js'

/**
 * @param told  by the operator
 * @param cpgPath  of the .cpg, if there is one
 * @returns what reads the texts of a table with a language driver, 0 for none
 * @throws OperatorError  InputRejected for an encoding that is not known
 */
export async function dbfDecoder(
  file: string,
  told: string | undefined,
  cpgPath: string | undefined,
): Promise<(driver: number) => DecodeText> {
  const said = cpgPath === undefined ? '' : await readFile(cpgPath, 'utf8')
  const [name] = (told ?? said).trim().split(/[\r\n]/, 1)
  if (name === '') return (driver) => decoderOfDriver(file, driver)
  const encoding = encodingOf(labelOf(name))
  if (encoding !== undefined) return () => textDecoder(encoding)
  return refuse(
    file,
    `its texts are in an encoding that is not known, ${JSON.stringify(name.slice(0, 40))}: name one ` +
      'with --encoding, such as utf-8 or windows-1252',
  )
}

/** `1251`, `ANSI 1251` and `CP1251` are one code page; `88591` and `8859-1` are ISO 8859-1. */
function labelOf(name: string): string {
  const [, part] = /^(?:iso[-_ ]?)?8859[-_ ]?(\d{1,2})$/i.exec(name) ?? []
  if (part !== undefined) return `iso-8859-${part}`
  const [, page] = /^(?:ansi|oem|cp|ibm|ms|win|windows)?[-_ ]?(\d+)$/i.exec(name) ?? []
  return ENCODINGS.get(Number(page)) ?? name.replace(/^utf[-_ ]?8$/i, 'utf-8')
}

/** ASCII is the same in all code pages, and most tables have nothing else, whatever their header says. */
function decoderOfDriver(file: string, driver: number): DecodeText {
  const page = DRIVERS.find(([, drivers]) => drivers.includes(driver))?.[0]
  const encoding = ENCODINGS.get(page ?? 0)
  if (encoding !== undefined) return textDecoder(encoding)
  const what = page === undefined ? `of the language driver ${driver}` : `in the code page ${page}`
  return (bytes) => {
    if (bytes.every((byte) => byte < 0x80)) return Buffer.from(bytes).toString('latin1')
    return refuse(
      file,
      `its texts are ${what}, as the header of its .dbf says, which is not read: convert it to UTF-8, or ` +
        'name the encoding with --encoding if that is wrong',
    )
  }
}

/** Code pages of Windows, DOS and the Macintosh. */
const ENCODINGS: ReadonlyMap<number, string> = new Map([
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  ...[1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map(
    (page) => [page, `windows-${page}`] as const,
  ),
  [10_000, 'macintosh'],
  [10_007, 'x-mac-cyrillic'],
  [20_866, 'koi8-r'],
  [21_866, 'koi8-u'],
  [54_936, 'gb18030'],
  [65_001, 'utf-8'],
])

/** Code pages and their language drivers. None, and that of the writer's Windows, are mostly Western. */
const DRIVERS: readonly (readonly [page: number, drivers: readonly number[]])[] = [
  [437, [0x01, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x15, 0x18, 0x19, 0x1b]],
  [620, [0x69]],
  [737, [0x6a, 0x86]],
  [850, [0x02, 0x0a, 0x0e, 0x10, 0x12, 0x14, 0x16, 0x1a, 0x1d, 0x25, 0x37]],
  [852, [0x1f, 0x22, 0x23, 0x40, 0x64, 0x87]],
  [857, [0x6b, 0x88]],
  [860, [0x24]],
  [861, [0x67]],
  [863, [0x1c, 0x6c]],
  [865, [0x08, 0x17, 0x66]],
  [866, [0x26, 0x65]],
  [874, [0x50, 0x7c]],
  [895, [0x68]],
  [932, [0x13, 0x7b]],
  [936, [0x4d, 0x7a]],
  [949, [0x4e, 0x79]],
  [950, [0x4f, 0x78]],
  [1250, [0xc8]],
  [1251, [0xc9]],
  [1252, [0, 0x03, 0x57, 0x58, 0x59]],
  [1253, [0xcb]],
  [1254, [0xca]],
  [1257, [0xcc]],
  [10_000, [0x04]],
  [10_006, [0x98]],
  [10_007, [0x96]],
  [10_029, [0x97]],
]
