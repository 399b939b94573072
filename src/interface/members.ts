/**
 * How the documents of this interface are described: every member may be left out, and no other
 * member is known.
 *
 * @module
 */
import { type TProperties, Type } from 'typebox'

export function members<Properties extends TProperties>(properties: Properties) {
  return Type.Partial(Type.Object(properties), { additionalProperties: false })
}
