/**
 * What has changed between two results.
 *
 * @module
 */
import { type Direction, directionOf, isRelative, isToEcho } from './directions.js'
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

export interface Slack {
  /** By which a figure must have changed to be better or worse. */
  readonly thresholdShare: number
  /** Judges figures that are no relations as well, where the machine is the same. */
  readonly judgesAll: boolean
  /** Judges these figures alone. */
  readonly only?: readonly string[] | undefined
}

/** @throws Error  when they are not of the same workload */
export function compareResults(base: Results, head: Results, slack: Slack): Comparison {
  const { thresholdShare, judgesAll, only } = slack
  for (const name of WORKLOAD) {
    const [before, now] = [base, head].map(({ options }) => options[name] ?? ABSENT)
    if (before === now) continue
    throw new Error(`results of other workloads cannot be compared: ${name} ${before} and ${now}`)
  }
  const judgesAbsolute = judgesAll && base.machine === head.machine
  const isSameEcho = base.echo === head.echo
  const changes = namesOf(base, head).flatMap((scenario) => {
    const [before, now] = [base, head].map((results) => results.scenarios[scenario]?.figures ?? {})
    return namesIn(before, now).map((name) => {
      const isJudged =
        (judgesAbsolute || isRelative(name)) &&
        (isSameEcho || !isToEcho(name)) &&
        (only?.includes(name) ?? true)
      const direction = isJudged ? directionOf(name) : 'neither'
      return { scenario, ...changeOf(name, before[name], now[name], direction, thresholdShare) }
    })
  })
  return { changes, notes: notesOf(base, head, judgesAbsolute) }
}

const WORKLOAD = ['recipientCount', 'seed', 'sourceCount', 'connectionCount']

/** Results of one source are older than the option. */
const ABSENT = 1

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

function notesOf(base: Results, head: Results, judgesAbsolute: boolean): string[] {
  const notes: string[] = []
  if (!judgesAbsolute) notes.push('only ratios, shares and counts are judged')
  if (base.machine !== head.machine) notes.push('measured on different machines')
  if (base.echo !== head.echo) {
    notes.push(
      `the echo servers are "${base.echo}" and "${head.echo}": relations to echo are not judged`,
    )
  }
  const missing = Object.keys(base.scenarios).filter((name) => !(name in head.scenarios))
  if (missing.length > 0) notes.push(`only the first has ${missing.join(', ')}`)
  const added = Object.keys(head.scenarios).filter((name) => !(name in base.scenarios))
  if (added.length > 0) notes.push(`only the second has ${added.join(', ')}`)
  return notes
}
