/**
 * Whether a machine of a cluster hears of what is acknowledged elsewhere, as its front threads see it.
 *
 * @module
 */
import { answeredSequence, isDraining, levelUntilMs } from '../cluster/figures.js'
import { monotonicMs } from '../monotonic.js'
import type { Freshness } from '../selection/freshness.js'
import type { FrontData } from './messages.js'

/** @param ownSequence  by what the thread answers that asks */
export function freshnessOf(
  {
    figures,
    refusesLaggingLists,
  }: Pick<NonNullable<FrontData['cluster']>, 'figures' | 'refusesLaggingLists'>,
  ownSequence: () => number = () => Number.POSITIVE_INFINITY,
): Freshness {
  const startedMs = monotonicMs()
  return {
    lagSeconds() {
      const nowMs = monotonicMs()
      const untilMs = levelUntilMs(figures)
      // Another snapshot is served, into which not all has come yet.
      const hasGoneBack = ownSequence() < answeredSequence(figures)
      if (nowMs <= untilMs) return hasGoneBack ? 0 : undefined
      // Before it was level for the first time, since it started.
      return (nowMs - (untilMs > 0 ? untilMs : startedMs)) / 1_000
    },
    refusesLists: refusesLaggingLists,
    isDraining: () => isDraining(figures),
  }
}

/** Why a service should get no requests, in a word; undefined where it should. */
export function unreadyReason(
  isStopping: boolean,
  freshness: Freshness | undefined,
): string | undefined {
  if (isStopping || freshness?.isDraining()) return 'draining'
  return freshness?.lagSeconds() === undefined ? undefined : 'lagging'
}
