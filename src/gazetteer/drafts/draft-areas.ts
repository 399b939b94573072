/**
 * Areas of a layer, made of the features of files: their keys, names and aliases, and their polygons.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { assertLastPage, type Page } from '../../sources/json/pages.js'
import { type CrsStatement, nameOfCrs } from '../crs/crs-statement.js'
import { type Projection, projectionOf } from '../crs/projection.js'
import type { AreaFeature } from '../files/area-file.js'
import { type AreaFileFormat, type OpenedAreaFile, openAreaFile } from '../files/open-area-file.js'
import { isAreaKey, KEY_RULE } from '../names.js'
import type { DraftArea } from '../write-layers.js'
import { type PolygonRings, polygonsOf } from './area-polygons.js'
import {
  type Template,
  type TemplateFiller,
  templateFiller,
  textOf,
  unknownField,
} from './template.js'

export interface DraftPlan {
  readonly paths: readonly string[]
  readonly format?: AreaFileFormat | undefined
  readonly table?: string | undefined
  readonly encoding?: string | undefined
  /** In place of what a file says. */
  readonly crs?: CrsStatement | undefined
  readonly key: Template
  /** Without it, the key is the name. */
  readonly name?: Template | undefined
  /** By their schemes, such as SAME. */
  readonly aliases: readonly (readonly [scheme: string, template: Template])[]
  /** Features that have all of these are taken. */
  readonly where: readonly (readonly [field: string, value: string])[]
  /** Whether features with the same key are one area. */
  readonly merges: boolean
  /** Whether features that are no areas are left out, and counted. */
  readonly skipsInvalid: boolean
}

/** What has been read so far. */
export class DraftTally {
  readonly files: FileSurvey[] = []
  featureCount = 0
  /** Left out by `where`. */
  otherCount = 0
  areaCount = 0
  vertexCount = 0
  /** Features that were merged into another's area. */
  mergedCount = 0
  invalidCount = 0
  /** Why, of the first. */
  readonly invalid: string[] = []
  readonly keys: string[] = []
  /** Areas that lack an alias, by its scheme. */
  readonly aliasLackCounts = new Map<string, number>()
  /** West, south, east, north. */
  readonly bounds: [number, number, number, number] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
}

export interface FileSurvey {
  readonly path: string
  readonly format: AreaFileFormat
  readonly fields: readonly string[]
  /** Undefined where it says nothing. */
  readonly saidCrs: string | undefined
  readonly takenCrs: string
  readonly featureCount: number | undefined
}

/** @throws OperatorError  InputRejected, naming the file and the position of the feature at fault */
export async function* draftAreas(plan: DraftPlan, tally: DraftTally): AsyncGenerator<DraftArea> {
  const merged = new Map<string, GrowingArea>()
  const places = new Map<string, string>()
  const incomplete = new Set<string>()
  const schemes = [...new Set(plan.aliases.map(([scheme]) => scheme))]
  const pages: Page[] = []
  for (const path of plan.paths) {
    const file = await openAreaFile(path, plan)
    pages.push({ name: path, isLast: file.isLastPage })
    try {
      for await (const { key, where, area } of areasOf(file, path, plan, tally)) {
        const before = places.get(key)
        if (before === undefined) places.set(key, where)
        else if (!plan.merges) throw duplicate(key, where, before)
        const other = merged.get(key)
        if (area === undefined) incomplete.add(key)
        else if (!plan.merges) yield finished(area, schemes, tally)
        else if (other === undefined) merged.set(key, area)
        else {
          grow(other, area)
          tally.mergedCount++
        }
      }
    } finally {
      await file.close()
    }
  }
  assertLastPage(pages)
  for (const area of merged.values()) {
    if (!incomplete.has(area.key)) yield finished(area, schemes, tally)
    else leaveOut(`${area.where} (key ${area.key}) is a part of an area that lacks another`, tally)
  }
}

/** A feature with a key. Without an area it is left out. */
interface KeyedFeature {
  readonly key: string
  readonly where: string
  readonly area: GrowingArea | undefined
}

interface GrowingArea {
  readonly key: string
  readonly name: string
  readonly aliases: string[]
  readonly polygons: PolygonRings[]
  readonly where: string
}

async function* areasOf(
  file: OpenedAreaFile,
  path: string,
  plan: DraftPlan,
  tally: DraftTally,
): AsyncGenerator<KeyedFeature> {
  const statement = plan.crs ?? file.crs
  const projection = projectionOf(path, statement ?? { kind: 'wgs84' })
  tally.files.push({
    path,
    format: file.format,
    fields: file.fields,
    saidCrs: file.crs === undefined ? undefined : nameOfCrs(file.crs),
    takenCrs: projection.name,
    featureCount: file.featureCount,
  })
  // It has no fields, either.
  if (file.featureCount === 0) return
  for (const [field] of plan.where) {
    if (!file.fields.includes(field)) throw unknownField(field, file.fields, path, '--where')
  }
  const { keyOf, areaOf } = featureReader(file, path, plan, projection, statement !== undefined)
  let position = 0
  for await (const feature of file.features) {
    position++
    tally.featureCount++
    const where = `${path}: feature ${position}`
    const isWanted = plan.where.every(
      ([field, value]) => (textOf(feature.properties[field], field, where) ?? '') === value,
    )
    if (!isWanted) {
      tally.otherCount++
      continue
    }
    const key = tryRead(() => keyOf(feature, where), plan.skipsInvalid, tally)
    if (key === undefined) continue
    const area = tryRead(() => areaOf(key, feature, where), plan.skipsInvalid, tally)
    yield { key, where, area }
  }
}

function tryRead<Value>(
  read: () => Value,
  skipsInvalid: boolean,
  tally: DraftTally,
): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!skipsInvalid || !(error instanceof OperatorError)) throw error
    leaveOut(error.message, tally)
    return undefined
  }
}

function leaveOut(message: string, tally: DraftTally): void {
  tally.invalidCount++
  if (tally.invalid.length < limits.areaExampleCount) tally.invalid.push(message)
}

function featureReader(
  { fields }: OpenedAreaFile,
  path: string,
  plan: DraftPlan,
  projection: Projection,
  isCertain: boolean,
): {
  readonly keyOf: (feature: AreaFeature, where: string) => string
  readonly areaOf: (key: string, feature: AreaFeature, where: string) => GrowingArea
} {
  const filler = (template: Template, flag: string) => templateFiller(template, fields, path, flag)
  const keyIn = filler(plan.key, '--key')
  const nameOf = plan.name === undefined ? keyIn : filler(plan.name, '--name')
  const aliasesOf = plan.aliases.map(([scheme, template]): readonly [string, TemplateFiller] => [
    scheme,
    filler(template, '--alias'),
  ])
  const keyOf = ({ properties }: AreaFeature, where: string) => {
    const key = keyIn(properties, where)
    if (key === undefined) {
      throw new OperatorError(
        'InputRejected',
        `${where} has no key: its ${plan.key.text} is empty. Choose another field, leave it out with ` +
          '--where, or leave out all that are no areas with --skip-invalid',
      )
    }
    if (isAreaKey(key)) return key
    throw new OperatorError(
      'InputRejected',
      `${where} has the key ${JSON.stringify(key.slice(0, KEY_SHOWN_CHAR_COUNT))}, and a key has ${KEY_RULE}. ` +
        'Choose another field, or a part of it with --key {FIELD:0:5}, or leave it out with --where or --skip-invalid',
    )
  }
  const areaOf = (key: string, { properties, geometry }: AreaFeature, where: string) => {
    const place = `${where} (key ${key})`
    return {
      key,
      name: nameOf(properties, place) ?? key,
      aliases: aliasesOf.flatMap(([scheme, fill]) => {
        const text = fill(properties, place)
        return text === undefined ? [] : [`${scheme}:${text}`]
      }),
      polygons: polygonsOf(geometry, place, projection, isCertain),
      where,
    }
  }
  return { keyOf, areaOf }
}

const KEY_SHOWN_CHAR_COUNT = 80

function grow(area: GrowingArea, { aliases, polygons }: GrowingArea): void {
  for (const alias of aliases) if (!area.aliases.includes(alias)) area.aliases.push(alias)
  for (const polygon of polygons) area.polygons.push(polygon)
}

function finished(
  { key, name, aliases, polygons, where }: GrowingArea,
  schemes: readonly string[],
  tally: DraftTally,
): DraftArea {
  tally.areaCount++
  for (const scheme of schemes) {
    if (aliases.some((alias) => alias.startsWith(`${scheme}:`))) continue
    tally.aliasLackCounts.set(scheme, (tally.aliasLackCounts.get(scheme) ?? 0) + 1)
  }
  if (tally.keys.length < limits.areaExampleCount) tally.keys.push(key)
  for (const rings of polygons) for (const ring of rings) measure(ring, tally)
  return {
    key,
    name,
    aliases,
    where,
    geometry:
      polygons.length === 1
        ? { type: 'Polygon', coordinates: polygons[0] }
        : { type: 'MultiPolygon', coordinates: polygons },
  }
}

function measure(ring: PolygonRings[number], tally: DraftTally): void {
  const { bounds } = tally
  tally.vertexCount += ring.length
  for (const [lng, lat] of ring) {
    if (lng < bounds[0]) bounds[0] = lng
    if (lat < bounds[1]) bounds[1] = lat
    if (lng > bounds[2]) bounds[2] = lng
    if (lat > bounds[3]) bounds[3] = lat
  }
}

function duplicate(key: string, where: string, before: string): OperatorError {
  return new OperatorError(
    'InputRejected',
    `${where} has the key ${key}, as ${before} has: unite the polygons of each key with --merge, or choose ` +
      'another field with --key',
  )
}
