/**
 * Opens a file of areas by what it is: its first bytes tell, and its name where they do not.
 *
 * @module
 */
import { isCollection } from '../../sources/files/file-format.js'
import { inputBytes, packingOf, readHead } from '../../sources/files/input.js'
import { HEAD_BYTES, readTextHead } from '../../sources/text/text-head.js'
import { unpack } from './archive.js'
import { type AreaFile, type AreaFileOptions, refuse } from './area-file.js'
import { openFlatGeobuf } from './flatgeobuf-file.js'
import { openGeoJson } from './geojson-file.js'
import { openGeoPackage } from './geopackage.js'
import { openGeoParquet } from './geoparquet.js'
import { openKml } from './kml-file.js'
import { openShapefile } from './shapefile.js'
import { openTopoJson } from './topojson-file.js'

export const areaFileFormats = [
  'geojson',
  'topojson',
  'shapefile',
  'geopackage',
  'flatgeobuf',
  'kml',
  'geoparquet',
] as const
export type AreaFileFormat = (typeof areaFileFormats)[number]

export interface OpenedAreaFile extends AreaFile {
  readonly format: AreaFileFormat
}

/**
 * @param format  where the file does not tell its own; a binary one always does
 * @throws OperatorError  InputRejected, naming the file and what is wrong with it
 */
export async function openAreaFile(
  path: string,
  options: AreaFileOptions & { readonly format?: AreaFileFormat | undefined },
): Promise<OpenedAreaFile> {
  // Whether it is there at all.
  await inputBytes(path)
  const head = await readHead(path, path, HEAD_BYTES)
  const binary = BINARY.find(({ magic }) => head.subarray(0, magic.length).equals(magic))
  if (binary?.name === undefined)
    return withMeant(path, options, await openText(path, head, options))
  if ((await packingOf(path)) !== 'none' && binary.name !== 'geopackage') {
    refuse(path, `it is packed around ${binary.name}: unpack it`)
  }
  const isArchive = binary.name === 'archive'
  return withMeant(path, options, await openBinary(path, binary.name, options), isArchive)
}

/** Refuses what was said of a file that is of another kind. */
async function withMeant(
  path: string,
  { format, table, encoding }: Parameters<typeof openAreaFile>[1],
  opened: OpenedAreaFile,
  isArchive = false,
): Promise<OpenedAreaFile> {
  const hasTables = isArchive || opened.format === 'geopackage' || opened.format === 'topojson'
  const idle = [
    format !== undefined && format !== opened.format && '--format',
    table !== undefined && !hasTables && '--table',
    encoding !== undefined && opened.format !== 'shapefile' && '--encoding',
  ].find((flag) => flag !== false)
  if (idle === undefined) return opened
  await opened.close()
  return refuse(path, `it is ${opened.format}, of which ${idle} says nothing: leave it out`)
}

type Binary = 'archive' | 'shapefile' | 'geopackage' | 'flatgeobuf' | 'geoparquet'

const BINARY: readonly { readonly magic: Buffer; readonly name: Binary }[] = [
  { magic: Buffer.from('PK\x03\x04', 'latin1'), name: 'archive' },
  { magic: Buffer.from('PK\x05\x06', 'latin1'), name: 'archive' },
  { magic: Buffer.from([0, 0, 0x27, 0x0a]), name: 'shapefile' },
  { magic: Buffer.from('SQLite format 3\0', 'latin1'), name: 'geopackage' },
  // The third byte is the version.
  { magic: Buffer.from('fgb\x03', 'latin1'), name: 'flatgeobuf' },
  { magic: Buffer.from('PAR1'), name: 'geoparquet' },
]

async function openBinary(
  path: string,
  name: Binary,
  options: AreaFileOptions,
): Promise<OpenedAreaFile> {
  switch (name) {
    case 'archive':
      return openArchive(path, options)
    case 'shapefile':
      return { format: 'shapefile', ...(await openShapefile(path, path, options)) }
    case 'geopackage':
      return { format: 'geopackage', ...(await openGeoPackage(path, path, options)) }
    case 'flatgeobuf':
      return { format: 'flatgeobuf', ...(await openFlatGeobuf(path, path)) }
    case 'geoparquet':
      return { format: 'geoparquet', ...(await openGeoParquet(path, path)) }
  }
}

async function openArchive(path: string, options: AreaFileOptions): Promise<OpenedAreaFile> {
  const unpacked = await unpack(path, path, options)
  if (unpacked === undefined) return { format: 'kml', ...(await openKml(path, path, true)) }
  try {
    const opened = await openShapefile(unpacked.path, path, options)
    const close = async () => {
      await opened.close()
      await unpacked.remove()
    }
    return { format: 'shapefile', ...opened, close }
  } catch (error) {
    await unpacked.remove()
    throw error
  }
}

async function openText(
  path: string,
  head: Buffer,
  options: Parameters<typeof openAreaFile>[1],
): Promise<OpenedAreaFile> {
  const name = path.toLowerCase().replace(/\.(gz|zst)$/, '')
  const companion = /\.(dbf|shx|prj|cpg|sbn|sbx)$/.exec(name)
  if (companion !== null) refuse(path, 'it is a part of a shapefile: name the .shp beside it')
  const isXml = /^\s*</.test(
    head
      .subarray(0, 200)
      .toString('latin1')
      .replace(/^(ï»¿|\0|ÿþ|þÿ)+/, ''),
  )
  const format = options.format ?? (isXml ? 'kml' : jsonFormatOf(name, head))
  if (format === 'kml') return { format, ...(await openKml(path, path, false)) }
  if (format === 'topojson') return { format, ...(await openTopoJson(path, path, options)) }
  if (format !== 'geojson') {
    return refuse(path, `it is no ${format}: it does not begin like one, is it damaged?`)
  }
  const { firstText } = readTextHead(path, head)
  return { format, ...(await openGeoJson(path, path, isCollection(firstText, head))) }
}

const [SPACE, OPEN_BRACE] = [0x20, 0x7b]
/** Of the order of bytes in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf]

function jsonFormatOf(name: string, head: Buffer): AreaFileFormat | undefined {
  if (/"type"\s*:\s*"Topology"/.test(head.toString('latin1'))) return 'topojson'
  if (name.endsWith('.topojson')) return 'topojson'
  const [first] = head.filter((byte) => byte > SPACE && !MARK.includes(byte))
  if (first === OPEN_BRACE) return 'geojson'
  return refuse(
    name,
    `it is none of the formats that are read (${areaFileFormats.join(', ')}), or it is damaged`,
  )
}
