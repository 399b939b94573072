/**
 * Configuration and contexts as documents: how a context is stored, and the documents that come with the program.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Static, TSchema } from '#typebox'
import { ServiceError } from '../errors.js'
import { bind } from '../interface/bind.js'
import { MapConfigurationSchema } from '../interface/configuration.js'
import {
  type AlertReference,
  type Area,
  type MapContext,
  MapContextSchema,
} from '../interface/context.js'
import type { CountMode } from '../interface/count-mode.js'
import { limits } from '../limits.js'
import { hashOf } from './tables.js'

/** A context with what is needed to find and to count it without parsing it. */
export interface WrittenContext {
  readonly id: string
  readonly json: string
  readonly header: ContextHeader
  /** The hash of the shape of each area; null for an area without one. */
  readonly shapeHashes: readonly (string | null)[]
}

export interface ContextHeader {
  /** A hash of the stored document. */
  readonly version: string
  readonly name: string | undefined
  readonly areaCount: number
  /** Bytes of the stored document. */
  readonly documentBytes: number
  /** If the context is an alert. */
  readonly alert?: AlertHeader
}

/** What is needed to find an alert, and to follow its updates. */
export interface AlertHeader {
  readonly identifier: string
  readonly sender: string
  readonly sent: string
  readonly status: string
  readonly msgType: string
  readonly expires?: string | undefined
  readonly references?: readonly AlertReference[]
  /** A hash of what was sent. */
  readonly digest: string
}

/**
 * Prepares a context whose members are bound: missing ids are drawn, and computed members are left out.
 *
 * @throws ServiceError  that names the member at fault
 */
export function writtenContext(context: MapContext, alert?: AlertHeader): WrittenContext {
  const { Id, ContextName, Areas = [], Alert } = context
  if ((ContextName ?? '').length > limits.contextNameCharCount) {
    fail(`has more than ${limits.contextNameCharCount} characters`, 'ContextName')
  }
  if (Areas.length > limits.areaCount) {
    throw new ServiceError('TooComplex', `Areas has more than ${limits.areaCount} areas`, 'Areas')
  }
  const id = contextId(Id)
  const areas = withIds(Areas.map(writtenMembers))
  const json = JSON.stringify({ Id: id, ContextName, Areas: context.Areas && areas, Alert })
  const documentBytes = Buffer.byteLength(json)
  if (documentBytes > limits.documentBytes) {
    const problem = `the context is larger than ${limits.documentBytes} bytes`
    throw new ServiceError('BodyTooLarge', problem)
  }
  const shapeHashes = areas.map((area) => {
    const shape = shapeOf(area)
    return shape === undefined ? null : hashOf(JSON.stringify(shape))
  })
  const header = {
    version: hashOf(json),
    name: ContextName,
    areaCount: areas.length,
    documentBytes,
    ...(alert !== undefined && { alert }),
  }
  return { id, json, header, shapeHashes }
}

/** GeoJSON or Esri JSON, as a recipient request accepts it; undefined for an area without a shape. */
export function shapeOf({ Drawing, Geometry }: Area): object | undefined {
  return (Drawing as object | undefined) ?? Geometry
}

/** Clients of .NET write zeros if they have no Guid. */
function contextId(text: string | undefined): string {
  const id = text === undefined || text === '' ? EMPTY_GUID : parseGuid(text)
  if (id === undefined) return fail(NO_GUID, 'Id')
  return id === EMPTY_GUID ? newGuid() : id
}

function writtenMembers(area: Area): Area {
  return Object.fromEntries(
    WRITTEN_MEMBERS.filter((name) => area[name] !== undefined).map((name) => [name, area[name]]),
  )
}

/** Computed whenever a context is read. */
const COMPUTED_MEMBERS: readonly string[] = [
  'IsUpdatingContactList',
  'Contacts',
  'ContactTotalCount',
  'HasContactCountError',
  'HasInvalidShapeError',
] satisfies readonly (keyof Area)[]

const WRITTEN_MEMBERS = Object.keys(MapContextSchema.properties.Areas.items.properties).filter(
  (name) => !COMPUTED_MEMBERS.includes(name),
) as readonly (keyof Area)[]

function withIds(areas: readonly Area[]): Area[] {
  const seen = new Set<string>()
  return areas.map(({ Id: written, ...rest }, i) => {
    const id = written || newGuid()
    if (seen.has(id)) fail('is the Id of another area as well', `Areas[${i}].Id`)
    seen.add(id)
    return { Id: id, ...rest }
  })
}

function fail(problem: string, field: string): never {
  throw new ServiceError('InvalidRequest', `${field} ${problem}`, field)
}

/**
 * A cache of parsed headers. Alerts are looked for among all of them, which takes four times as long if they are parsed
 * each time.
 */
export class HeaderCache {
  /** By the ids of contexts, with the text that was parsed last. */
  readonly #cached = new Map<string, { readonly json: string; readonly header: ContextHeader }>()
  #charCount = 0

  /** The header that a text is; it must not be changed. */
  parsed(id: string, json: string): ContextHeader {
    const cached = this.#cached.get(id)
    if (cached?.json === json) return cached.header
    const header = JSON.parse(json) as ContextHeader
    if (json.length > limits.headerMemoryCharCount) return header
    this.#charCount += json.length - (cached?.json.length ?? 0)
    // This evicts the headers of deleted contexts, too.
    if (this.#charCount > limits.headerMemoryCharCount) {
      this.#cached.clear()
      this.#charCount = json.length
    }
    this.#cached.set(id, { json, header })
    return header
  }

  /** Characters of the texts of all headers in the cache. */
  get charCount(): number {
    return this.#charCount
  }
}

/** `data/default` of the installation, seen from `dist/src/store`. */
export const DEFAULT_DIRECTORY = fileURLToPath(new URL('../../../data/default', import.meta.url))

interface BuiltInConfiguration {
  readonly version: string
  readonly json: Uint8Array
  readonly countMode: CountMode
}

/** Served until a configuration is stored. */
export function builtInConfiguration(): BuiltInConfiguration {
  const path = join(DEFAULT_DIRECTORY, 'configuration.json')
  const configuration = readDocument(path, MapConfigurationSchema)
  const json = Buffer.from(JSON.stringify(configuration))
  return { version: hashOf(json), json, countMode: countModeOf(configuration) }
}

export function countModeOf(configuration: { readonly contactCountMode?: CountMode }): CountMode {
  return configuration.contactCountMode ?? 'ContactLocation'
}

/** The contexts of the embedded sample. */
export function sampleContexts(): WrittenContext[] {
  const directory = join(DEFAULT_DIRECTORY, 'contexts')
  return readdirSync(directory).map((name) =>
    writtenContext(readDocument(join(directory, name), MapContextSchema)),
  )
}

/** Its members come in the order of the schema. */
function readDocument<Schema extends TSchema>(path: string, schema: Schema): Static<Schema> {
  return bind(schema, JSON.parse(readFileSync(path, 'utf8')))
}

/**
 * Parses the five forms of a Guid that .NET writes (Guid.ToString: N, D, B, P and X), in any case.
 *
 * @returns 32 lower-case digits, or undefined if it is no Guid
 */
export function parseGuid(text: string): string | undefined {
  const lower = text.toLowerCase()
  if (GUID.bare.test(lower)) return lower
  const isEnclosed = /^(?:\{.*\}|\(.*\))$/.test(lower)
  const inner = isEnclosed ? lower.slice(1, -1) : lower
  return GUID.dashed.test(inner) ? inner.replaceAll('-', '') : guidOfParts(lower)
}

const GUID = {
  bare: /^[0-9a-f]{32}$/,
  dashed: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  parts: /^\{0x([0-9a-f]{1,8}),0x([0-9a-f]{1,4}),0x([0-9a-f]{1,4}),\{(.*)\}\}$/,
  bytes: /^0x[0-9a-f]{1,2}(?:,0x[0-9a-f]{1,2}){7}$/,
}

function guidOfParts(lower: string): string | undefined {
  const [, first, second, third, last = ''] = GUID.parts.exec(lower) ?? []
  if (!GUID.bytes.test(last)) return undefined
  const tail = last.split(',').map((byte) => byte.slice(2).padStart(2, '0'))
  return [first.padStart(8, '0'), second.padStart(4, '0'), third.padStart(4, '0'), ...tail].join('')
}

/** Says what is wrong with a text that is no Guid. */
export const NO_GUID = 'is not a Guid: 32 hexadecimal digits with or without hyphens'

/** A random one, as 32 lower-case digits. */
function newGuid(): string {
  return randomUUID().replaceAll('-', '')
}

const EMPTY_GUID = '0'.repeat(32)
