/**
 * Puts a document into the shape in which it is served.
 *
 * @module
 */

/** The parts of a schema that decide the order of members. */
interface OrderingSchema {
  readonly properties?: Readonly<Record<string, OrderingSchema>>
  readonly items?: OrderingSchema
}

/** Removes members that are null, at every depth: here they mean the same as absent ones. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const present = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(present.map(([name, member]) => [name, withoutNulls(member)]))
}

/** A copy of a valid value whose members follow the order of the schema. */
export function inMemberOrder(schema: object, value: unknown): unknown {
  const { properties, items } = schema as OrderingSchema
  if (items !== undefined && Array.isArray(value)) {
    return value.map((item) => inMemberOrder(items, item))
  }
  if (properties === undefined || !isObject(value)) return value
  const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name))
  const others = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  return Object.fromEntries([
    ...names.map((name) => [name, inMemberOrder(properties[name], value[name])]),
    ...others.map((name) => [name, value[name]]),
  ])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
