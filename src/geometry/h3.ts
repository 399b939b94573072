/**
 * The library of H3, which is read with the first call: it takes 64 MiB of addresses and a tenth of a second, in each
 * thread that reads it, and most threads are never asked for a cell.
 *
 * @module
 */
import { createRequire } from 'node:module'

export function h3(): typeof import('h3-js') {
  loaded ??= createRequire(import.meta.url)('h3-js') as typeof import('h3-js')
  return loaded
}

let loaded: typeof import('h3-js') | undefined
