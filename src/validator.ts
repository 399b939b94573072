/**
 * Checks of what is read, against a schema.
 *
 * @module
 */
import type { Static, TProperties, TSchema } from '#typebox'
import { Compile, type Validator } from '#typebox/compile'

interface LazyValidator<Schema extends TSchema> {
  Check(value: unknown): value is Static<Schema>
  Errors(value: unknown): ReturnType<Validator<TProperties, Schema>['Errors']>
}

/** Compiled when it first checks something: a thread needs few of those that it imports, and each takes a millisecond. */
export function validatorOf<Schema extends TSchema>(schema: Schema): LazyValidator<Schema> {
  let made: Validator<TProperties, Schema> | undefined
  const compiled = () => {
    made ??= Compile(schema) as Validator<TProperties, Schema>
    return made
  }
  return {
    Check: (value): value is Static<Schema> => compiled().Check(value),
    Errors: (value) => compiled().Errors(value),
  }
}
