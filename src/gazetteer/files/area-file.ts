/**
 * What each reader of a file of areas hands over.
 *
 * @module
 */
import { OperatorError, ServiceError } from '../../errors.js'
import type { DrawnGeometry, Position } from '../../notations/drawn.js'
import type { FileFeature } from '../../notations/file-feature.js'
import type { CrsStatement } from '../crs/crs-statement.js'

export interface AreaFile {
  /** Names of the fields of the first features, in their order. */
  readonly fields: readonly string[]
  /** What the file says of its coordinates; undefined where it says nothing. */
  readonly crs: CrsStatement | undefined
  /** Where the file says it, or it has been counted. */
  readonly featureCount: number | undefined
  /** False where it says that there are further features, undefined for what is not a FeatureCollection. */
  readonly isLastPage?: boolean | undefined
  /** In the order of the file; to be read once. */
  readonly features: AsyncIterable<AreaFeature>
  /** Gives back what the file holds: memory, copies on the disk. */
  close(): Promise<void>
}

export interface AreaFeature {
  readonly properties: Readonly<Record<string, unknown>>
  /** In the coordinates of the file, x before y. */
  readonly geometry: AreaGeometry | null
}

/** Rings of a shapefile do not say what they are holes of. */
export type AreaGeometry = DrawnGeometry | RingList

export interface RingList {
  readonly type: 'Rings'
  /** Closed. */
  readonly coordinates: readonly (readonly Position[])[]
}

/** How a file is to be read, as far as it does not say itself. */
export interface AreaFileOptions {
  /** The layer of a GeoPackage, the object of a TopoJSON file, the file of an archive. */
  readonly table?: string | undefined
  /** Of the texts of a shapefile. */
  readonly encoding?: string | undefined
}

export function refuse(file: string, problem: string): never {
  throw new OperatorError('InputRejected', `${file}: ${problem}`)
}

/** What a reader of a notation says, as a fault of the file; its message begins with the path that it was given. */
export async function refusing<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw refusalOf(error)
  }
}

/** The same for who reads at once. */
export function refusingNow<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw refusalOf(error)
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  return new OperatorError('InputRejected', error.message, { cause: error })
}

/** A file whose features are in memory. */
export function fileOf(features: readonly FileFeature[], crs: CrsStatement | undefined): AreaFile {
  const read = features.map(({ id, name, properties, geometry }) => ({
    properties: withOwn(properties, { id, name }),
    geometry,
  }))
  const fields = new Set(read.flatMap(({ properties }) => Object.keys(properties)))
  return {
    fields: [...fields],
    crs,
    featureCount: read.length,
    features: each(read),
    close: async () => undefined,
  }
}

/** What a feature is known by beside its properties is a field, too, unless one of them is called so. */
export function withOwn(
  properties: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const added = Object.entries(own).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(properties, name),
  )
  return added.length === 0 ? properties : { ...properties, ...Object.fromEntries(added) }
}

async function* each(features: readonly AreaFeature[]): AsyncGenerator<AreaFeature> {
  yield* features
}

/** What a library says of a file that it cannot read, as a message of ours; ours stay as they are. */
export function unreadable(file: string, format: string, error: unknown): Error {
  if (error instanceof OperatorError) return error
  const [line] = String((error as Error)?.message ?? error).split('\n')
  return new OperatorError(
    'InputRejected',
    `${file} cannot be read as ${format}: it is damaged or cut off (${line.slice(0, REASON_CHAR_COUNT)})`,
    { cause: error },
  )
}

const REASON_CHAR_COUNT = 160

/** The same features; a fault of the library that reads them is told as one of the file. */
export async function* readingFrom(
  file: string,
  format: string,
  features: AsyncIterable<AreaFeature> | Iterable<AreaFeature>,
): AsyncGenerator<AreaFeature> {
  try {
    yield* features
  } catch (error) {
    throw unreadable(file, format, error)
  }
}

/**
 * The one thing that a file has, or the one that is named.
 *
 * @param what  such as `a layer`, and how several are called
 */
export function chosenOf(
  file: string,
  names: readonly string[],
  wanted: string | undefined,
  [one, several]: readonly [string, string],
): string {
  const list = names.slice(0, NAMES_SHOWN_COUNT).join(', ')
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted
    refuse(file, `it has no ${one} "${wanted}"; it has ${list || 'none'}`)
  }
  if (names.length === 1) return names[0]
  if (names.length === 0) refuse(file, `it has no ${one}`)
  return refuse(file, `it has ${names.length} ${several}: name one of them with --table (${list})`)
}

const NAMES_SHOWN_COUNT = 40
