/**
 * A data directory with a file of people beside it.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Owner, temporaryDirectory } from '../service/hickory.js'

interface ImportPlace {
  readonly data: string
  /** The path of a file beside it. */
  at(name: string): string
  /** Writes `people.csv`: so many recipients, all at a place that the version says. */
  put(count: number, version: number): void
}

export function importPlace(t: Owner): ImportPlace {
  const directory = temporaryDirectory(t)
  const at = (name: string) => join(directory, name)
  const data = at('data')
  mkdirSync(data)
  return {
    data,
    at,
    put(count, version) {
      const rows = Array.from({ length: count }, (_, row) => `+999${row},${version},2\n`)
      writeFileSync(at('people.csv'), `number,lat,lng\n${rows.join('')}`)
    },
  }
}
