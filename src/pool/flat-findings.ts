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

export function flattenFindings(findings: readonly Findings[]): Uint32Array {
  const flat = new Uint32Array(findings.reduce((sum, each) => sum + wordsOf(each), 0))
  let at = 0
  for (const each of findings) at = write(each, flat, at)
  return flat
}

/**
 * What was found for each of the queries. Runs are copies, for they are kept as long as a list is
 * read, and counts are views.
 */
export function unflattenFindings(
  flat: Uint32Array,
  queries: readonly Pick<SelectionTask<SelectionKind>, 'kind' | 'shardIndexes'>[],
): Findings[] {
  let at = 0
  return queries.map(({ kind, shardIndexes }): Findings => {
    const state = flat[at++]
    if (state !== 0) return { fault: FAULTS[state - 1] }
    if (kind === 'count') {
      at += shardIndexes.length
      return { counts: flat.subarray(at - shardIndexes.length, at) }
    }
    const runs = Array.from(shardIndexes, () => {
      const start = at + 1
      at = start + flat[at]
      return flat.slice(start, at)
    })
    return { runs }
  })
}

const FAULTS: readonly QueryFault[] = ['TooComplex', 'Unavailable']

function wordsOf(findings: Findings): number {
  if ('counts' in findings) return 1 + findings.counts.length
  if ('fault' in findings) return 1
  return findings.runs.reduce((sum, runs) => sum + 1 + runs.length, 1)
}

function write(findings: Findings, flat: Uint32Array, start: number): number {
  let at = start
  flat[at++] = 'fault' in findings ? 1 + FAULTS.indexOf(findings.fault) : 0
  if ('counts' in findings) {
    flat.set(findings.counts, at)
    at += findings.counts.length
  } else if ('runs' in findings) {
    for (const runs of findings.runs) {
      flat[at++] = runs.length
      flat.set(runs, at)
      at += runs.length
    }
  }
  return at
}
