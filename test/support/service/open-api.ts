/**
 * The committed copy of the OpenAPI document, and validators of what it describes.
 *
 * @module
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApi } from '../../../src/describe/open-api.js'
import { readVersion } from '../../../src/version.js'

/** Below the root of the repository. */
export const COPY_PATH = 'docs/openapi.json'

export const copyFile = join(fileURLToPath(new URL('../../../../', import.meta.url)), COPY_PATH)

/** What the committed copy should hold. */
export function copyText(): string {
  return `${JSON.stringify(openApi(readVersion()), undefined, 2)}\n`
}

export interface Reference {
  readonly $ref?: string
}

export interface Example {
  readonly value: unknown
}

export interface Parameter extends Reference {
  readonly name?: string
  readonly in?: 'path' | 'query'
  readonly schema?: object
  readonly examples?: Readonly<Record<string, Example>>
}

export interface Content {
  readonly schema?: Reference
  readonly examples?: Readonly<Record<string, Example>>
  readonly example?: unknown
}

export interface Answer extends Reference {
  readonly description?: string
  readonly content?: Readonly<Record<string, Content>>
}

export interface DescribedOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Reference
  readonly responses: Readonly<Record<string, Answer>>
}

export interface SchemaObject {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly additionalProperties?: boolean
  readonly enum?: readonly string[]
}

/** The parts of a document that tests look at. */
export interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>
    readonly requestBodies: Readonly<Record<string, { content: Readonly<Record<string, Content>> }>>
    readonly responses: Readonly<Record<string, Answer>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

/** What a reference such as `#/components/schemas/Area` leads to; anything else is itself. */
export function resolve<Target>(document: object, reference: Reference): Target | undefined {
  if (reference.$ref === undefined) return reference as Target
  const steps = reference.$ref.split('/').slice(1)
  return steps.reduce<unknown>(
    (value, step) => (value as Record<string, unknown> | undefined)?.[step],
    document,
  ) as Target | undefined
}

/**
 * Compiles schemas as they stand in a document, where references lead into it.
 *
 * @param isClosed  whether members that are not described are refused, as answers are held to
 */
export function validatorsOf(
  document: Document,
  { isClosed }: { isClosed: boolean },
): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  const { schemas } = document.components
  const own = isClosed
    ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, close(schema)]))
    : schemas
  ajv.addSchema({ components: { schemas: own } }, 'document')
  return (schema) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
}

function close(schema: SchemaObject): SchemaObject {
  const isObject = schema.properties !== undefined
  return isObject ? { additionalProperties: false, ...schema } : schema
}
