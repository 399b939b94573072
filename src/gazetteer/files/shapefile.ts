/**
 * A shapefile: geometries in its .shp, fields in the .dbf beside it, and what the .prj and the .cpg say
 * of coordinates and texts. The numbers of records must agree.
 *
 * @module
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type CrsStatement, readCrsName } from '../crs/crs-statement.js'
import {
  type AreaFeature,
  type AreaFile,
  type AreaFileOptions,
  readingFrom,
  refuse,
} from './area-file.js'
import { type DbfTable, openDbf } from './dbf.js'
import { dbfDecoder } from './dbf-encoding.js'
import { shpGeometries } from './shp.js'

export async function openShapefile(
  path: string,
  file: string,
  { encoding }: AreaFileOptions,
): Promise<AreaFile> {
  const beside = await filesBeside(path)
  const dbfPath = beside('dbf')
  if (dbfPath === undefined) {
    return refuse(file, 'the .dbf of the same name is not beside it, and the fields are in that')
  }
  const table = await openDbf(
    dbfPath,
    `${file} (.dbf)`,
    await dbfDecoder(file, encoding, beside('cpg')),
  )
  await assertRecordCount(file, beside('shx'), table.recordCount)
  const prjPath = beside('prj')
  return {
    fields: table.fields,
    crs: prjPath === undefined ? undefined : await crsOf(prjPath, file),
    featureCount: table.recordCount,
    features: readingFrom(file, 'a shapefile', features(path, file, table)),
    close: async () => undefined,
  }
}

async function* features(path: string, file: string, table: DbfTable): AsyncGenerator<AreaFeature> {
  const records = table.records[Symbol.asyncIterator]()
  let number = 0
  try {
    for await (const geometry of shpGeometries(path, file)) {
      number++
      const { done, value } = await records.next()
      if (done) {
        refuse(file, `the .dbf has ${table.recordCount} records, and the .shp has more`)
      }
      if (value !== undefined) yield { properties: value, geometry }
    }
  } finally {
    await records.return?.()
  }
  if (number !== table.recordCount) {
    refuse(
      file,
      `the .dbf has ${table.recordCount} records, and the .shp only ${number}: it is cut off`,
    )
  }
}

/** The index has 8 bytes for each record after its 100 of the header. */
async function assertRecordCount(
  file: string,
  shxPath: string | undefined,
  recordCount: number,
): Promise<void> {
  if (shxPath === undefined) return
  const { size } = await stat(shxPath)
  const count = (size - 100) / 8
  if (count === recordCount) return
  refuse(
    file,
    `the .dbf has ${recordCount} records, and the .shx ${count}: they do not belong together`,
  )
}

/** Finds the files of the same name by their endings, in any letter case. */
async function filesBeside(path: string): Promise<(ending: string) => string | undefined> {
  const directory = dirname(path)
  const stem = basename(path).replace(/\.shp$/i, '')
  const names = await readdir(directory)
  return (ending) => {
    const isIt = (name: string) =>
      name.startsWith(`${stem}.`) && name.slice(stem.length + 1).toLowerCase() === ending
    const found = names.find(isIt)
    return found === undefined ? undefined : join(directory, found)
  }
}

async function crsOf(path: string, file: string): Promise<CrsStatement | undefined> {
  const text = (await readFile(path, 'utf8')).replace(/^\ufeff/, '').trim()
  if (text === '') return undefined
  if (text.length > PRJ_CHAR_COUNT) return refuse(file, 'its .prj is no definition of coordinates')
  return readCrsName(text)
}

const PRJ_CHAR_COUNT = 100_000
