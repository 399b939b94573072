/**
 * The names of members that JSON lines have, as far as the beginning of a file tells.
 *
 * @module
 */

const LINES_READ = 1_000

/** @param pick  what of a line has the names */
export function jsonNames(head: Buffer, pick: (line: object) => unknown): string[] {
  const names = new Set<string>()
  // The last line may be cut in two, and then is no JSON.
  for (const line of head.toString().split(/[\r\n]+/, LINES_READ)) {
    const record = parsed(line.slice(line.indexOf('{')))
    const named = isObject(record) ? pick(record) : undefined
    if (isObject(named)) for (const name of Object.keys(named)) names.add(name)
  }
  return [...names]
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
