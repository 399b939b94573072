/**
 * What it means for a figure to grow; its name ends with its unit.
 *
 * @module
 */

export type Direction = 'higher is better' | 'lower is better' | 'neither'

/** To something else that was measured in the same run. */
const RELATION = /(ratioTo|RatioTo|times|Times)[A-Z]/

/** The first that matches the name of a figure decides. */
const rules: readonly (readonly [RegExp, Direction])[] = [
  // What was offered or measured of others only says what the rest is worth.
  [/offered|^(echo|naive|readyBuffer)[A-Z]/i, 'neither'],
  [/busyShare$/i, 'neither'],
  [/slowdown|cost/i, 'lower is better'],
  [RELATION, 'higher is better'],
  [/PerSecond$/, 'higher is better'],
  [/goodputShare$/i, 'higher is better'],
  [/(Ms|Seconds|Microseconds|Bytes|Kilobytes|Megabytes)$/, 'lower is better'],
  [/(failed|wrong|lost|reset|timeout|unsent|error|brokenOff|hung)Count$/i, 'lower is better'],
]

export function directionOf(figureName: string): Direction {
  return rules.find(([pattern]) => pattern.test(figureName))?.[1] ?? 'neither'
}

/** Whether it is a relation to the echo server. */
export function isToEcho(figureName: string): boolean {
  return figureName.includes('ToEcho')
}

/** Whether it is between two figures of one run, so that it travels between machines. */
export function isRelative(figureName: string): boolean {
  return RELATION.test(figureName) || /(Ratio|Share|Count)$/.test(figureName)
}
