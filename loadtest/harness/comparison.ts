/**
 * What has changed between two results.
 *
 * @module
 */
import { type Direction, directionOf, isRelative } from './directions.js'
import type { Figure, Results } from './results.js'

export interface Change {
  readonly scenario: string
  readonly name: string
  readonly base: Figure
  readonly head: Figure
  /** Of the medians, as a share of the first; undefined where that is 0 and the second is not. */
  readonly share: number | undefined
  /** Whether no run of the one is within the runs of the other. */
  readonly isBeyondSpread: boolean
  readonly verdict: Verdict
}

/** `moved`: beyond the spread, but by less than counts, or in neither a good nor a bad direction. */
export type Verdict = 'better' | 'worse' | 'moved' | 'same'

export interface Comparison {
  readonly changes: readonly Change[]
  /** What to know before reading them. */
  readonly notes: readonly string[]
}

/**
 * @param thresholdShare  by which a figure must have changed to be better or worse
 * @throws Error  when they are not of the same workload
 */
export function compareResults(base: Results, head: Results, thresholdShare: number): Comparison {
  for (const name of ['recipientCount', 'seed', 'connectionCount']) {
    const [before, now] = [base.options[name], head.options[name]]
    if (before === now) continue
    throw new Error(`results of other workloads cannot be compared: ${name} ${before} and ${now}`)
  }
  const isSameMachine = base.machine === head.machine
  const changes = namesOf(base, head).flatMap((scenario) => {
    const [before, now] = [base, head].map((results) => results.scenarios[scenario]?.figures ?? {})
    return namesIn(before, now).map((name) => {
      const isJudged = isSameMachine || isRelative(name)
      const direction = isJudged ? directionOf(name) : 'neither'
      return { scenario, ...changeOf(name, before[name], now[name], direction, thresholdShare) }
    })
  })
  return { changes, notes: notesOf(base, head, isSameMachine) }
}

function namesOf(base: Results, head: Results): string[] {
  return namesIn(base.scenarios, head.scenarios)
}

/** Of members that both have. */
function namesIn(base: object, head: object): string[] {
  return Object.keys(base).filter((name) => name in head)
}

function changeOf(
  name: string,
  base: Figure,
  head: Figure,
  direction: Direction,
  thresholdShare: number,
): Omit<Change, 'scenario'> {
  const share = shareOf(base.median, head.median)
  const isBeyondSpread = head.min > base.max || head.max < base.min
  const verdict = (): Verdict => {
    if (!isBeyondSpread) return 'same'
    if (direction === 'neither' || Math.abs(share ?? 1) <= thresholdShare) return 'moved'
    return head.median > base.median === (direction === 'higher is better') ? 'better' : 'worse'
  }
  return { name, base, head, share, isBeyondSpread, verdict: verdict() }
}

function shareOf(base: number, head: number): number | undefined {
  if (base === head) return 0
  return base === 0 ? undefined : (head - base) / base
}

function notesOf(base: Results, head: Results, isSameMachine: boolean): string[] {
  const notes: string[] = []
  if (!isSameMachine) {
    notes.push('measured on different machines: only ratios, shares and counts are judged')
  }
  const missing = Object.keys(base.scenarios).filter((name) => !(name in head.scenarios))
  if (missing.length > 0) notes.push(`only the first has ${missing.join(', ')}`)
  const added = Object.keys(head.scenarios).filter((name) => !(name in base.scenarios))
  if (added.length > 0) notes.push(`only the second has ${added.join(', ')}`)
  return notes
}
