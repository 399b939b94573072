/**
 * The schemas of the interface as descriptions read them: types by name, and what is said of each.
 *
 * @module
 */
import { ErrorResponseSchema } from '../interface/error.js'
import type { Operation } from '../interface/operation.js'
import { operationNames } from '../interface/operation-names.js'
import { type OperationName, operations } from '../interface/operations.js'

export interface Schema {
  /** The name of the type, where it has one. */
  readonly title?: string
  readonly description?: string
  /** What the type is, where `description` is what a member of that type is. */
  readonly typeDescription?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  /** The schema of all members of a map. */
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean
  readonly items?: Schema
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

export interface NamedOperation extends Omit<Operation, 'request' | 'response'> {
  readonly name: OperationName
  readonly request: Schema
  readonly response: Schema | undefined
}

export const namedOperations: readonly NamedOperation[] = operationNames.map((name) => ({
  name,
  ...(operations[name] as Operation),
}))

/** The body of every error. */
export const errorResponse = ErrorResponseSchema as object as Schema

/** A request that is no type by itself has the name of its operation. */
export function requestTypeName({ name, request }: NamedOperation): string {
  return request.title ?? name
}

/** All types with a name in some schemas, each after those that its members have. */
export function namedTypes(schemas: readonly Schema[]): ReadonlyMap<string, Schema> {
  const types = new Map<string, Schema>()
  for (const schema of schemas) collectTypes(schema, types)
  return types
}

function collectTypes(schema: Schema, into: Map<string, Schema>): void {
  if (schema.title !== undefined && into.has(schema.title)) return
  for (const inner of innerSchemas(schema)) collectTypes(inner, into)
  if (schema.title !== undefined) into.set(schema.title, schema)
}

function innerSchemas({ items, properties = {}, patternProperties = {} }: Schema): Schema[] {
  const inner = [...Object.values(properties), ...Object.values(patternProperties)]
  return items === undefined ? inner : [items, ...inner]
}

/** The description of a member, with its bounds. */
export function memberText(schema: Schema): string {
  return [schema.description, boundsText(schema)].filter((part) => part !== undefined).join(' ')
}

/** The description of a type, wherever a member has it. */
export function typeText({ description, typeDescription }: Schema): string {
  return typeDescription ?? description ?? ''
}

export function isNullable({ type }: Schema): boolean {
  return Array.isArray(type) && type.includes('null')
}

/** The one type beside null; undefined where anything may stand. */
export function plainType({ type }: Schema): string | undefined {
  return typeof type === 'string' ? type : type?.find((each) => each !== 'null')
}

/** The columns of the table that an operation answers as CSV. */
export function csvColumns({ csvColumns: own, response }: NamedOperation): readonly string[] {
  if (own !== undefined) return own
  const lists = Object.values(response?.properties ?? {}).map(({ items }) => items?.properties)
  return Object.keys(lists.find((members) => members !== undefined) ?? {})
}

function boundsText({ minimum, exclusiveMinimum, maximum, maxItems }: Schema): string | undefined {
  const count = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 0 })
  if (maxItems !== undefined) return `At most ${count(maxItems)}.`
  if (maximum === undefined) return undefined
  if (minimum !== undefined) return `From ${count(minimum)} to ${count(maximum)}.`
  return `More than ${count(exclusiveMinimum ?? 0)}, at most ${count(maximum)}.`
}
