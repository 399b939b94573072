/**
 * Requests as lines for a shell, and responses with a value in every member.
 *
 * @module
 */
import { csvColumns, type NamedOperation, plainType, type Schema } from './schema.js'

/** The formats that an operation is described in. */
export type DescribedFormat = 'json' | 'csv'

/**
 * One command for each example of an operation.
 *
 * @param baseUrl  needs no quotes in a shell
 */
export function curlLines(
  operation: NamedOperation,
  format: DescribedFormat,
  baseUrl: string,
): string[] {
  const { verb, paths, examples } = operation
  return Object.values(examples).map(({ summary, request }) => {
    const { target, rest } = fillPath(paths[0], request)
    const url = `${baseUrl}${target}${format === 'csv' ? '.csv' : ''}`
    const option = verb === 'GET' || verb === 'POST' ? '' : ` -X ${verb}`
    if (verb === 'GET' || (verb === 'DELETE' && operation.hasBody !== true)) {
      return `# ${summary}\ncurl -s${option} ${quoted(url + queryOf(rest))}`
    }
    const body = quoted(JSON.stringify(rest))
    const type = "-H 'Content-Type: application/json'"
    return `# ${summary}\ncurl -s${option} ${quoted(url)} ${type} -d ${body}`
  })
}

/** A response as it looks, with made-up values. */
export function sampleResponse(operation: NamedOperation, format: DescribedFormat): string {
  if (operation.response === undefined) return 'HTTP/1.1 204 No Content'
  if (format === 'csv') {
    const type = 'HTTP/1.1 200 OK\nContent-Type: text/csv'
    const file = `Content-Disposition: attachment;filename=${operation.name}.csv`
    return `${type}\n${file}\n\n${csvColumns(operation).join()}\n…`
  }
  const type = 'HTTP/1.1 200 OK\nContent-Type: application/json; charset=utf-8'
  return `${type}\n\n${JSON.stringify(sampleOf(operation.response), undefined, 2)}`
}

function fillPath(path: string, request: Readonly<Record<string, unknown>>) {
  const rest = { ...request }
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value)
  })
  return { target, rest }
}

function queryOf(members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) query.set(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function sampleOf(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0]
  switch (plainType(schema)) {
    case 'string':
      return 'String'
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    case 'array':
      return [sampleOf(schema.items ?? {})]
    default: {
      const members = Object.entries(schema.properties ?? {})
      return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member)]))
    }
  }
}

/**
 * Who may call an operation, in the words of descriptions.
 */
export function whoMayCall({
  scopes,
  isWrite,
}: Pick<NamedOperation, 'scopes' | 'isWrite'>): string {
  const keyed = `Where the service asks for keys: for keys with the scope ${scopes.join(' or ')}.`
  return isWrite ? `${keyed} Otherwise accepted only from the machine of the service.` : keyed
}
