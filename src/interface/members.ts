/**
 * How the documents of this interface are described: every member may be left out, and no other
 * member is known. What is written here of types and members is what clients read of them in the
 * descriptions of the service, so it is literal and has units, ranges and values.
 *
 * @module
 */
import { type Static, type TProperties, type TSchema, Type } from '#typebox'
import { limits } from '../limits.js'

/**
 * A type of the interface.
 *
 * @param title  its name, the same in every description
 */
export function members<Properties extends TProperties>(
  title: string,
  description: string,
  properties: Properties,
) {
  const options = { additionalProperties: false, title, description }
  return Type.Partial(Type.Object(properties), options)
}

/**
 * Members that a type does not have, and without which what it has would mean something else; beside
 * any of the members named, they only say the same. By their names in lower case.
 */
export type LostMembers = Readonly<Record<string, readonly string[]>>

/** Where a type keeps them; it is in no description. */
export const LOST_MEMBERS = Symbol('lost members')

/** A type of which other members are not always dropped, see `LostMembers`. */
export function refusing<Schema extends TSchema>(schema: Schema, lost: LostMembers): Schema {
  return { ...schema, [LOST_MEMBERS]: lost }
}

/** A type that may have other members as well, which are its client's own. */
export function openMembers<Properties extends TProperties>(
  title: string,
  description: string,
  properties: Properties,
) {
  const options = { additionalProperties: true, title, description }
  return Type.Partial(Type.Object(properties), options)
}

/**
 * A type of GeoJSON, which may have foreign members (RFC 7946, 6.1). Unlike `openMembers` it has no member
 * for any name in TypeScript, or an interface such as those of `@types/geojson` would not fit.
 */
export function geoJsonMembers<Properties extends TProperties>(
  title: string,
  description: string,
  properties: Properties,
) {
  return Type.Partial(Type.Object(properties), { title, description })
}

/** The members of a request that is no type by itself: it is known by the name of its operation. */
export function requestMembers<Properties extends TProperties>(properties: Properties) {
  return Type.Partial(Type.Object(properties), { additionalProperties: false })
}

/** A request without members. */
export const NothingSchema = requestMembers({})

export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })
export const integer = (description: string) => Type.Integer({ description })
export const number = (description: string) => Type.Number({ description })

/** How a list that is read by numbers of its items is divided. */
export const pageMembers = (what: string) => ({
  Skip: Type.Integer({
    description: `How many ${what} to leave out at the beginning. Default 0.`,
    minimum: 0,
  }),
  Take: takeOf(what, limits.contextPageDefaultCount, limits.contextPageCount),
})

export const takeOf = (what: string, usual: number, maximum: number) =>
  Type.Integer({
    description:
      `How many ${what} to return at most; 0 answers how many there are. ` +
      // As toLocaleString does, which takes the first that calls it 15 ms.
      `Default ${String(usual).replace(/\B(?=(?:\d{3})+$)/g, ',')}.`,
    minimum: 0,
    maximum,
  })

export function listOf<Items extends TSchema>(items: Items, description: string) {
  return Type.Array(items, { description })
}

/**
 * A member that has a type with a name.
 *
 * @param description  what the member is; `typeDescription` keeps what the type is
 */
export function member<Schema extends TSchema>(schema: Schema, description: string): Schema {
  const typeDescription = (schema as { description?: string }).description
  return { ...schema, description, typeDescription }
}

/** A member that may also be null. */
export function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: ['object', 'null'] })
}
