/**
 * A context as it is stored: what was written, and what is needed to find and to count it without
 * reading that.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import {
  type AlertReference,
  type Area,
  type MapContext,
  MapContextSchema,
} from '../interface/context.js'
import { limits } from '../limits.js'
import { NO_GUID, newGuid, parseGuid } from './guid.js'
import { hashOf } from './hash.js'
import { shapeOf } from './shape-of.js'

export interface WrittenContext {
  readonly id: string
  readonly json: string
  readonly header: ContextHeader
  /** The hash of the shape of each area; null for an area without one. */
  readonly shapeHashes: readonly (string | null)[]
}

export interface ContextHeader {
  /** A hash of what is stored. */
  readonly version: string
  readonly name: string | undefined
  readonly areaCount: number
  /** Bytes of what is stored. */
  readonly documentBytes: number
  /** Of a context that is an alert. */
  readonly alert?: AlertHeader
}

/** What is needed to find an alert, and to tell what became of it. */
export interface AlertHeader {
  readonly identifier: string
  readonly sender: string
  readonly sent: string
  readonly status: string
  readonly msgType: string
  readonly expires?: string | undefined
  /** Left out where it refers to none. */
  readonly references?: readonly AlertReference[]
  /** A hash of what was sent. */
  readonly digest: string
}

/**
 * Prepares a context whose members are bound. Ids that are missing are made up; what the service
 * computes is left out.
 *
 * @param alert  of a context that is one
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
  const areas = withIds(Areas.map(writtenPart))
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

/** Clients of .NET write zeros where they have no Guid. */
function contextId(text: string | undefined): string {
  const id = text === undefined || text === '' ? EMPTY_GUID : parseGuid(text)
  if (id === undefined) return fail(NO_GUID, 'Id')
  return id === EMPTY_GUID ? newGuid() : id
}

const EMPTY_GUID = '0'.repeat(32)

/** An area without what is computed. */
function writtenPart(area: Area): Area {
  const part: Record<string, unknown> = {}
  for (const name of WRITTEN_MEMBERS) {
    if (area[name] !== undefined) part[name] = area[name]
  }
  return part
}

/** Members of areas that are computed whenever a context is read. */
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
