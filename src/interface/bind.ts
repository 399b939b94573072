/**
 * Reads what a client wrote into the members that a schema declares: names in any letter case,
 * numbers and flags also in quotes, enumerations also by position, as clients of this kind of
 * service write them.
 *
 * @module
 */
import type { Static, TSchema } from '#typebox'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { declaredNames, lowerCase } from './letter-case.js'
import { LOST_MEMBERS, type LostMembers } from './members.js'
import { nearestName } from './near-miss.js'
import { flagOf, nameOf, numberOf, wholeNumber } from './quoted.js'
import { isReserved } from './reserved-members.js'
import { type OnUnknown, refuseUnknown, unknownMember } from './unknown-members.js'

/**
 * A copy with the declared names, in the order of the schema, without members that are null, which
 * means the same as absent.
 *
 * @param onUnknown  is told of members that the schema does not have, which are left out. Those that the
 *   schema knows as lost are refused in any case. Other members of a type that is known to lose some,
 *   such as a geometry of Esri, are only told of if their names are nearly known
 * @throws ServiceError  InvalidRequest, with the path of the member that does not fit
 */
export function bind<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  onUnknown: OnUnknown = refuseUnknown,
): Static<Schema> {
  const binding: Binding = { path: [], onUnknown }
  return bindValue(schema as BoundSchema, value ?? {}, binding) as Static<Schema>
}

/** Only tells of members that the schema does not have, where those that it has mean nothing. */
export function tellUnknownMembers(
  schema: TSchema,
  value: object,
  onUnknown: OnUnknown = refuseUnknown,
): void {
  const names = declaredNames(schema as BoundSchema)
  for (const [key, member] of Object.entries(value)) {
    if (member === null || names.has(lowerCase(key))) continue
    tellUnknown(schema as BoundSchema, key, { path: [], onUnknown })
  }
}

/** The parts of JSON Schema that the schemas of this folder use. */
interface BoundSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: BoundSchema
  readonly properties?: Readonly<Record<string, BoundSchema>>
  readonly additionalProperties?: boolean
  readonly [LOST_MEMBERS]?: LostMembers
}

interface Binding {
  /** Where in the value we are: names of members, and positions in lists. */
  readonly path: (string | number)[]
  readonly onUnknown: OnUnknown
}

/** Undefined is what a member becomes that is left out. */
function bindValue(schema: BoundSchema, value: unknown, binding: Binding): unknown {
  if (value === null || value === undefined) return undefined
  if (schema.enum !== undefined) return bindEnum(schema.enum, value, binding)
  switch (schema.type) {
    case 'object':
      return bindObject(schema, value, binding)
    case 'array':
      return bindArray(schema.items ?? {}, value, binding)
    case 'string':
      return bindText(value, binding)
    case 'number':
      return bindNumber(value, binding)
    case 'integer':
      return value === '' ? undefined : wholeNumber(value, textOf(binding.path), schema)
    case 'boolean':
      return bindFlag(value, binding)
    default:
      return withoutNulls(value, binding)
  }
}

function bindObject(schema: BoundSchema, value: unknown, binding: Binding): unknown {
  if (!isObject(value)) refuse('must be an object', binding)
  const { properties, additionalProperties } = schema
  if (properties === undefined || additionalProperties !== false) {
    return withoutNulls(value, binding)
  }
  const written = writtenNames(schema, value, binding)
  refuseLost(schema, value, written, binding)
  const bound: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(properties)) {
    const key = written.get(name)
    if (key === undefined) continue
    binding.path.push(name)
    const own = bindValue(member, value[key], binding)
    if (own !== undefined) bound[name] = own
    binding.path.pop()
  }
  return bound
}

/** How each declared member is spelt in a value; one that is null is not there. */
function writtenNames(
  schema: BoundSchema,
  value: Readonly<Record<string, unknown>>,
  binding: Binding,
): Map<string, string> {
  const names = declaredNames(schema)
  const written = new Map<string, string>()
  for (const key of Object.keys(value)) {
    if (value[key] === null || value[key] === undefined) continue
    const name = names.get(key) ?? names.get(lowerCase(key))
    const other = name === undefined ? undefined : written.get(name)
    if (name !== undefined && other === undefined) written.set(name, key)
    else if (name !== undefined) refuse(`is given twice, as ${other} and ${key}`, binding, name)
    else tellUnknown(schema, key, binding)
  }
  return written
}

function tellUnknown(schema: BoundSchema, key: string, { path, onUnknown }: Binding): void {
  if (path.length === 0 && isReserved(key)) return
  const lost = schema[LOST_MEMBERS]
  const known = Object.keys(schema.properties ?? {})
  // What is lost is refused with a reason of its own, if it is.
  if (lost !== undefined && Object.hasOwn(lost, lowerCase(key))) return
  if (lost !== undefined && nearestName(key, known) === undefined) return
  onUnknown(unknownMember(textOf(path), key, known))
}

/** Refuses members that would be dropped if that changed the meaning of the others. */
function refuseLost(
  { [LOST_MEMBERS]: lost = {}, properties = {} }: BoundSchema,
  value: Readonly<Record<string, unknown>>,
  written: ReadonlyMap<string, string>,
  binding: Binding,
): void {
  for (const key of Object.keys(value)) {
    const name = lowerCase(key)
    if (value[key] === null || !Object.hasOwn(lost, name)) continue
    if (lost[name].some((other) => written.has(other))) continue
    const kept = `kept are ${Object.keys(properties).join(', ')}`
    refuse(
      `cannot be kept, and without it the rest would mean something else: ${kept}`,
      binding,
      key,
    )
  }
}

/** Null is an absent member, but an element of a list cannot be absent. */
function bindArray(items: BoundSchema, value: unknown, binding: Binding): unknown[] {
  if (!Array.isArray(value)) refuse('must be a list', binding)
  return value.map((item, index) => {
    // Most of what is bound are coordinates.
    if (items.type === 'number' && Number.isFinite(item)) return item
    binding.path.push(index)
    const bound = bindValue(items, item, binding)
    if (bound === undefined) refuse('must not be null', binding)
    binding.path.pop()
    return bound
  })
}

function bindText(value: unknown, binding: Binding): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'number') return refuse('must be a text', binding)
  // Digits of it are lost already: the last ones, the zero at the end of 1.50, the sign of -0.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    refuse('has more digits than a number keeps; put it in quotes', binding)
  }
  if (!Number.isInteger(value) || Object.is(value, -0)) {
    refuse('is a number that may not be kept as it was sent; put it in quotes', binding)
  }
  return String(value)
}

/** An empty text is no number, as forms and query strings write a member that is left out. */
function bindNumber(value: unknown, binding: Binding): number | undefined {
  if (value === '') return undefined
  const number = numberOf(value)
  return Number.isFinite(number) ? number : refuse('must be a number', binding)
}

function bindFlag(value: unknown, binding: Binding): boolean | undefined {
  if (value === '') return undefined
  return flagOf(value) ?? refuse('must be true or false', binding)
}

function bindEnum(names: readonly string[], value: unknown, binding: Binding): string | undefined {
  if (value === '') return undefined
  return nameOf(names, value) ?? refuse(`must be one of ${names.join(', ')}`, binding)
}

/** A value that the schema leaves open is taken as it is. */
function withoutNulls(value: unknown, binding: Binding, depth = binding.path.length): unknown {
  if (depth > limits.jsonDepthCount) {
    refuse(`nests deeper than ${limits.jsonDepthCount} levels`, binding)
  }
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, binding, depth + 1))
  if (!isObject(value)) return value
  const present = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(
    present.map(([name, member]) => [name, withoutNulls(member, binding, depth + 1)]),
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(problem: string, { path }: Binding, ...below: string[]): never {
  const field = textOf([...path, ...below])
  throw new ServiceError('InvalidRequest', `${field} ${problem}`.trim(), field || undefined)
}

function textOf(path: readonly (string | number)[]): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join('')
}
