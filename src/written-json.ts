/**
 * JSON that people write, such as settings and lists of sources.
 *
 * @module
 */
import { OperatorError } from './errors.js'

/**
 * A byte order mark in front of it, as editors on Windows write one, is ignored.
 *
 * @param path  for messages
 * @throws SyntaxError  where it is not JSON
 * @throws OperatorError  Usage, where an object has a name twice: of two values one would count, and which is not seen
 */
export function parseWrittenJson(path: string, text: string): unknown {
  const json = text.replace(/^\ufeff/, '')
  const value: unknown = JSON.parse(json)
  const name = nameGivenTwice(json)
  if (name === undefined) return value
  throw new OperatorError('Usage', `${path} has ${name} twice: leave one of them out`)
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g

function nameGivenTwice(json: string): string | undefined {
  /** The names of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let text = ''
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token !== ':') text = token
    else {
      const names = open.at(-1)
      const name = JSON.parse(text) as string
      if (names?.has(name)) return name
      names?.add(name)
    }
  }
  return undefined
}
