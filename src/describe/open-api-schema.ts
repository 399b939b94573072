/**
 * Schemas of the interface as OpenAPI writes them: types with a name are written once and referred
 * to. That no other member is known is left out: in requests others are ignored, and answers may
 * get more.
 *
 * @module
 */
import { isNullable, plainType, type Schema, typeText } from './schema.js'

export type JsonSchema = Readonly<Record<string, unknown>>

/** A type, for the place where it is written. */
export function typeSchema(schema: Schema): JsonSchema {
  const type = isNullable(schema) ? { type: plainType(schema) } : {}
  const text = typeText(schema)
  return { ...(text === '' ? {} : { description: text }), ...keywords(schema), ...type }
}

/** A member: a reference where its type has a name. */
export function memberSchema(schema: Schema): JsonSchema {
  const description = schema.description === undefined ? {} : { description: schema.description }
  if (schema.title === undefined) return { ...description, ...keywords(schema) }
  const reference = { $ref: `#/components/schemas/${schema.title}` }
  if (isNullable(schema)) return { ...description, anyOf: [reference, { type: 'null' }] }
  // Without a text of its own the type says it all.
  return schema.typeDescription === undefined ? reference : { ...description, ...reference }
}

function keywords(schema: Schema): JsonSchema {
  const { title, description, typeDescription, ...rest } = schema
  const { items, properties, patternProperties, additionalProperties, ...plain } = rest
  return {
    ...plain,
    ...(items && { items: memberSchema(items) }),
    ...(properties && { properties: memberSchemas(properties) }),
    ...(patternProperties && { patternProperties: memberSchemas(patternProperties) }),
    ...(additionalProperties === true && { additionalProperties }),
  }
}

function memberSchemas(schemas: Readonly<Record<string, Schema>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, memberSchema(schema)]),
  )
}
