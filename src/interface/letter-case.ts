/**
 * Names that are read in any letter case.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'

/** A name in lower case; one that is longer than any that is known is left as it is. */
export function lowerCase(name: string): string {
  return name.length > limits.memberNameCharCount ? name : name.toLowerCase()
}

/** A member that is given twice, in one spelling or in two: to choose one would drop the other. */
export function givenTwice(first: string, second: string): ServiceError {
  const also = first === second ? '' : `, also as ${first}`
  return new ServiceError('InvalidRequest', `${second} is given twice${also}`, second)
}

/** The names of members as a schema declares them, by themselves in lower case. */
export function declaredNames(schema: DeclaringSchema): ReadonlyMap<string, string> {
  let names = namesBySchema.get(schema)
  if (names === undefined) {
    names = new Map(Object.keys(schema.properties ?? {}).map((name) => [lowerCase(name), name]))
    namesBySchema.set(schema, names)
  }
  return names
}

interface DeclaringSchema {
  readonly properties?: object
}

const namesBySchema = new WeakMap<DeclaringSchema, ReadonlyMap<string, string>>()
