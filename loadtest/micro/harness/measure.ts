/**
 * Times the same pass over and over, in this thread.
 *
 * @module
 */

export interface MeasurePlan {
  /** Passes before the clock counts. */
  readonly warmUpCount: number
  readonly repetitionCountMin: number
  readonly repetitionCountMax: number
  /** Time after which no further pass begins, once the fewest are done. */
  readonly budgetMs: number
}

export interface Timing {
  readonly repetitionCount: number
  readonly minMs: number
  readonly medianMs: number
  /** One pass in ten was faster than this. */
  readonly p10Ms: number
  /** One pass in ten was slower than this. */
  readonly p90Ms: number
}

export const fullPlan: MeasurePlan = {
  warmUpCount: 3,
  repetitionCountMin: 10,
  repetitionCountMax: 60,
  budgetMs: 2_500,
}

/** For baselines, which have been asked every shape before, and of which a pass takes long. */
export const baselinePlan: MeasurePlan = {
  warmUpCount: 0,
  repetitionCountMin: 3,
  repetitionCountMax: 20,
  budgetMs: 3_000,
}

/** @param pass  returns something that depends on all of its work, or the compiler may leave it out */
export function measure(pass: () => number, plan: MeasurePlan): Timing {
  for (let i = 0; i < plan.warmUpCount; i++) sink += pass()
  const passesMs: number[] = []
  const startedMs = performance.now()
  while (isUnderWay(passesMs, startedMs, plan)) {
    const passStartedMs = performance.now()
    sink += pass()
    passesMs.push(performance.now() - passStartedMs)
  }
  return summarize(passesMs)
}

/** The same for work that another process does. */
export async function measureRemote(
  pass: () => Promise<number>,
  plan: MeasurePlan,
): Promise<Timing> {
  for (let i = 0; i < plan.warmUpCount; i++) sink += await pass()
  const passesMs: number[] = []
  const startedMs = performance.now()
  while (isUnderWay(passesMs, startedMs, plan)) {
    const passStartedMs = performance.now()
    sink += await pass()
    passesMs.push(performance.now() - passStartedMs)
  }
  return summarize(passesMs)
}

/** The sum of all that passes returned; printed at the end, so that all of it was needed. */
export function sinkTotal(): number {
  return sink
}

let sink = 0

function isUnderWay(
  { length }: readonly number[],
  startedMs: number,
  { repetitionCountMin, repetitionCountMax, budgetMs }: MeasurePlan,
): boolean {
  if (length >= repetitionCountMax) return false
  return length < repetitionCountMin || performance.now() - startedMs <= budgetMs
}

function summarize(passesMs: readonly number[]): Timing {
  const sorted = passesMs.toSorted((a, b) => a - b)
  const quantile = (share: number) => sorted[Math.round(share * (sorted.length - 1))]
  return {
    repetitionCount: sorted.length,
    minMs: sorted[0],
    medianMs: quantile(0.5),
    p10Ms: quantile(0.1),
    p90Ms: quantile(0.9),
  }
}
