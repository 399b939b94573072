/**
 * What workers find, as it travels: for each query a word that says how it went, then what was found
 * in each of its shards, a count or the length of a list of runs and the list.
 *
 * @module
 */
import type { QueryFault, SelectionKind, SelectionTask } from './messages.js'

/** One query's findings: one entry a shard, or why there are none. */
export type Findings =
  | { readonly counts: Uint32Array }
  | { readonly runs: readonly Uint32Array[] }
  | { readonly fault: QueryFault }

/** In words of 32 bits. */
export function findingsLength(findings: readonly Findings[]): number {
  let length = 0
  for (const each of findings) length += lengthOf(each)
  return length
}

/** @param into  as long as `findingsLength` says, or longer */
export function writeFindings(findings: readonly Findings[], into: Uint32Array): void {
  let at = 0
  for (const each of findings) at = write(each, into, at)
}

/** Reads findings one after the other, as copies: their memory is used again. */
export class FindingsReader {
  readonly #flat: Uint32Array
  #at = 0

  constructor(flat: Uint32Array) {
    this.#flat = flat
  }

  next({ kind, shardIndexes }: Pick<SelectionTask<SelectionKind>, 'kind' | 'shardIndexes'>) {
    const state = this.#flat[this.#at++]
    if (state !== 0) return { fault: FAULTS[state - 1] }
    if (kind === 'count') return { counts: this.#take(shardIndexes.length) }
    const runs: Uint32Array[] = []
    for (let left = shardIndexes.length; left > 0; left--) {
      runs.push(this.#take(this.#flat[this.#at++]))
    }
    return { runs }
  }

  #take(count: number): Uint32Array {
    this.#at += count
    return this.#flat.slice(this.#at - count, this.#at)
  }
}

const FAULTS: readonly QueryFault[] = ['TooComplex', 'Unavailable']

function lengthOf(findings: Findings): number {
  if ('counts' in findings) return 1 + findings.counts.length
  if ('fault' in findings) return 1
  return findings.runs.reduce((sum, runs) => sum + 1 + runs.length, 1)
}

function write(findings: Findings, into: Uint32Array, start: number): number {
  let at = start
  into[at++] = 'fault' in findings ? 1 + FAULTS.indexOf(findings.fault) : 0
  if ('counts' in findings) {
    into.set(findings.counts, at)
    at += findings.counts.length
  } else if ('runs' in findings) {
    for (const runs of findings.runs) {
      into[at++] = runs.length
      into.set(runs, at)
      at += runs.length
    }
  }
  return at
}
