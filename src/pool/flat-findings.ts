/**
 * What workers find, as it travels: for each query a word that says how it went, then what was found
 * in each of its shards, a count or the length of a list of runs and the list.
 *
 * @module
 */
import type { QueryFault } from './messages.js'

/** One query's findings: one entry a shard, or why there are none. */
export type Findings =
  | { readonly counts: ArrayLike<number> }
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

/**
 * Reads findings as copies, since their memory is used again: of each query in turn whether there are findings,
 * and then the findings.
 */
export class FindingsReader {
  readonly #flat: Uint32Array
  #at = 0

  constructor(flat: Uint32Array) {
    this.#flat = flat
  }

  /** Why the next query has no findings; undefined when it has some. */
  nextFault(): QueryFault | undefined {
    const state = this.#flat[this.#at++]
    return state === 0 ? undefined : FAULTS[state - 1]
  }

  counts(shardCount: number): number[] {
    const counts: number[] = []
    for (let left = shardCount; left > 0; left--) counts.push(this.#flat[this.#at++])
    return counts
  }

  runs(shardCount: number): Uint32Array[] {
    const runs: Uint32Array[] = []
    for (let left = shardCount; left > 0; left--) {
      const start = this.#at + 1
      this.#at = start + this.#flat[this.#at]
      runs.push(this.#flat.slice(start, this.#at))
    }
    return runs
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
