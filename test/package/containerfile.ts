/**
 * The steps of the Containerfile, for tests that follow them without a container engine.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../../../data/system/Containerfile', import.meta.url))

export interface Step {
  /** Such as `RUN`. */
  readonly keyword: string
  /** The rest of its lines, as one. */
  readonly text: string
}

export function readContainerfile(): string {
  return readFileSync(FILE, 'utf8')
}

export function stepsOf(text: string): Step[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, keyword, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      if (keyword === undefined) throw new Error(`no step: ${line}`)
      return { keyword, text: rest }
    })
}

/** What follows `CMD` or `ENTRYPOINT` in the form that starts no shell. */
export function commandOf(text: string): string[] {
  const list: unknown = JSON.parse(text.slice(text.indexOf('[')))
  if (Array.isArray(list) && list.every((part) => typeof part === 'string')) return list
  throw new Error(`not in exec form: ${text}`)
}

/** `A=b` as a pair, each of `ENV` and `ARG`. */
export function pairsOf(text: string): [string, string][] {
  return text.split(/\s+/).map((pair) => {
    const [name, value = ''] = pair.split('=')
    return [name, value]
  })
}
