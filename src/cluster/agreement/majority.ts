/**
 * Most of the members.
 *
 * @module
 */
export const majorityOf = (memberCount: number) => Math.floor(memberCount / 2) + 1

/** The sequence up to which most members have the journal. */
export function committedBy(matched: readonly number[]): number {
  if (matched.length === 0) return 0
  const descending = [...matched].sort((left, right) => right - left)
  return descending[majorityOf(matched.length) - 1]
}
