/**
 * The types of the interface in TypeScript, as ServiceStack writes them for its clients: each
 * request is a class that knows its name, its verb and the class of its response.
 *
 * @module
 */
import {
  isNullable,
  memberText,
  type NamedOperation,
  namedOperations,
  namedTypes,
  plainType,
  type Schema,
  typeText,
} from './schema.js'

/** @param baseUrl  of the service, such as `http://127.0.0.1:8080`; must not end a comment */
export function typescriptTypes(version: string, baseUrl: string): string {
  const requests = namedOperations.map(({ request }) => request)
  const responses = namedOperations.flatMap(({ response }) => response ?? [])
  const types = [...namedTypes([...requests, ...responses])]
  const isRequest = (name: string) => namedOperations.some((operation) => operation.name === name)
  return [
    `/* Options:\nVersion: ${version}\nBaseUrl: ${baseUrl}\n\n*/\n`,
    'export interface IReturn<T>\n{\n    createResponse(): T;\n}\n',
    'export interface IReturnVoid\n{\n    createResponse(): void;\n}\n',
    ...types.filter(([name]) => !isRequest(name)).map(([name, schema]) => typeOf(name, schema)),
    ...namedOperations.map(requestClass),
  ].join('\n')
}

function typeOf(name: string, schema: Schema): string {
  if (schema.enum !== undefined) {
    return `${comment(typeText(schema), '')}export type ${name} = ${literals(schema.enum)};\n`
  }
  return [
    `${comment(typeText(schema), '')}export class ${name}`,
    '{',
    ...membersOf(schema),
    constructorOf(name),
    '}\n',
  ].join('\n')
}

/** A request that has the members of another type extends it. */
function requestClass(operation: NamedOperation): string {
  const { name, verb, paths, request, response, summary } = operation
  const base = request.title === undefined || request.title === name ? undefined : request.title
  const returns = response === undefined ? 'IReturnVoid' : `IReturn<${response.title}>`
  const created = response === undefined ? '' : `return new ${response.title}(); `
  return [
    `${comment(`${summary}.`, '')}${paths.map((path) => `// @Route("${path}", "${verb}")\n`).join('')}` +
      `export class ${name}${base === undefined ? '' : ` extends ${base}`} implements ${returns}`,
    '{',
    ...(base === undefined ? membersOf(request) : []),
    constructorOf(name, base === undefined ? '' : 'super(init); '),
    `    public getTypeName() { return '${name}'; }`,
    `    public getMethod() { return '${verb}'; }`,
    `    public createResponse() { ${created}}`,
    '}\n',
  ].join('\n')
}

function constructorOf(name: string, first = ''): string {
  return `    public constructor(init?: Partial<${name}>) { ${first}Object.assign(this, init); }`
}

function membersOf({ properties = {}, additionalProperties }: Schema): string[] {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(memberText(schema), '    ')}    public ${name}?: ${typeName(schema)};`,
  )
  return additionalProperties === true ? [...members, '    [name: string]: unknown;'] : members
}

function typeName(schema: Schema): string {
  const name = schema.title ?? unnamedType(schema)
  return isNullable(schema) ? `${name} | null` : name
}

function unnamedType(schema: Schema): string {
  if (schema.enum !== undefined) return literals(schema.enum)
  switch (plainType(schema)) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return listName(typeName(schema.items ?? {}))
    case 'object':
      return '{ [name: string]: unknown }'
    default:
      return 'unknown'
  }
}

function listName(item: string): string {
  return /^[\w[\]]+$/.test(item) ? `${item}[]` : `(${item})[]`
}

function literals(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(' | ')
}

function comment(text: string, indent: string): string {
  return text === '' ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`
}
