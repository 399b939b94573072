/**
 * ZIP archives of areas: a shapefile with its companions, or a KMZ, which is left to its reader. What is needed
 * of a shapefile is unpacked into a directory of our own, under names of ours, and never more than a bound.
 *
 * @module
 */
import { createWriteStream, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { removeOnExit } from '../../snapshot/publish/remove-on-exit.js'
import { type AreaFileOptions, chosenOf, refuse, unreadable } from './area-file.js'

interface UnpackedShapefile {
  /** Of the .shp. */
  readonly path: string
  remove(): Promise<void>
}

/** Endings of what belongs to a shapefile and is read. */
const COMPANIONS = ['shp', 'dbf', 'shx', 'prj', 'cpg']

/**
 * @returns undefined for a KMZ
 * @throws OperatorError  InputRejected for what is no archive of areas, or unpacks to too much
 */
export async function unpack(
  path: string,
  file: string,
  { table }: AreaFileOptions,
): Promise<UnpackedShapefile | undefined> {
  let zip: ZipFile | undefined
  const directory = mkdtempSync(join(tmpdir(), 'hickory-areas-'))
  const removal = removeOnExit(directory, false)
  const remove = async () => {
    await rm(directory, { recursive: true, force: true })
    removal.forget()
  }
  try {
    zip = await openPromise(path, { autoClose: false, validateEntrySizes: true })
    const entries = await entriesOf(zip, file)
    const chosen = choose(entries, file, table)
    if (chosen === undefined) {
      await remove()
      return undefined
    }
    let leftBytes = limits.areaUnpackedBytes
    for (const [ending, entry] of chosen) {
      if (entry.uncompressedSize > leftBytes) refuse(file, TOO_LARGE)
      leftBytes -= entry.uncompressedSize
      const source = await zip.openReadStreamPromise(entry)
      const target = createWriteStream(join(directory, `areas.${ending}`), { mode: 0o600 })
      await pipeline(source, bounded(entry.uncompressedSize, file), target)
    }
    return { path: join(directory, 'areas.shp'), remove }
  } catch (error) {
    await remove()
    throw error instanceof OperatorError ? error : unreadable(file, 'a ZIP archive', error)
  } finally {
    zip?.close()
  }
}

const TOO_LARGE = `it unpacks to more than ${limits.areaUnpackedBytes} bytes`

async function entriesOf(zip: ZipFile, file: string): Promise<Entry[]> {
  if (zip.entryCount > limits.areaArchiveEntryCount) {
    refuse(file, `it has more than ${limits.areaArchiveEntryCount} entries`)
  }
  const entries: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    // What a Mac adds, with names of the files that it belongs to.
    const isForeign = entry.fileName.startsWith('__MACOSX/') || entry.fileName.endsWith('/')
    if (isForeign) continue
    if (entry.isEncrypted()) refuse(file, 'it is encrypted: unpack it')
    entries.push(entry)
  }
  return entries
}

function choose(
  entries: readonly Entry[],
  file: string,
  wanted: string | undefined,
): ReadonlyMap<string, Entry> | undefined {
  const ending = (entry: Entry) => /\.([^./]+)$/.exec(entry.fileName)?.[1].toLowerCase() ?? ''
  const stem = (entry: Entry) => entry.fileName.replace(/\.[^./]+$/, '')
  const shapes = entries.filter((entry) => ending(entry) === 'shp')
  if (shapes.length > 0) {
    const names = shapes.map((entry) => basename(stem(entry)))
    const name = chosenOf(file, names, wanted, ['shapefile', 'shapefiles'])
    const chosenStem = stem(shapes[names.indexOf(name)])
    const own = entries.filter((entry) => stem(entry) === chosenStem)
    const companions = own.filter((entry) => COMPANIONS.includes(ending(entry)))
    return new Map(companions.map((entry) => [ending(entry), entry]))
  }
  if (entries.some((entry) => ending(entry) === 'kml')) return undefined
  const names = entries.slice(0, 5).map(({ fileName }) => fileName)
  return refuse(
    file,
    `it is an archive without a shapefile or KML (${names.join(', ') || 'it is empty'}): unpack it, ` +
      'and name the file',
  )
}

/** An entry may have more than it says. */
function bounded(byteCountMax: number, file: string): Transform {
  let byteCount = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      byteCount += chunk.length
      if (byteCount <= byteCountMax) return done(null, chunk)
      done(new OperatorError('InputRejected', `${file}: an entry is longer than it says`))
    },
  })
}
