/**
 * The figures of a load run as they are kept: of each run, and their medians.
 *
 * @module
 */

/** What a result file holds. */
export interface Results {
  readonly format: typeof RESULTS_FORMAT
  /** When the run began. */
  readonly date: string
  readonly machine: string
  readonly node: string
  readonly commit: string | null
  /** What the echo server was. Shares of different ones say nothing of each other. */
  readonly echo: string
  /** What was asked for, but for the scenarios. */
  readonly options: Readonly<Record<string, number>>
  readonly scenarios: Readonly<Record<string, ScenarioResult>>
}

export interface ScenarioResult {
  readonly figures: Readonly<Record<string, Figure>>
  readonly faults: readonly string[]
}

export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  /** In the order of the runs. */
  readonly runs: readonly number[]
}

/** What a scenario gives in one run. */
export interface RunOutcome {
  readonly figures: Readonly<Record<string, number>>
  readonly faults: readonly string[]
}

export const RESULTS_FORMAT = 'hickory-loadtest-1'

/** See peers/echo.ts. */
export const ECHO = 'the HTTP library alone'

/** @param runs  of one scenario; a figure is of those that have it */
export function summarize(runs: readonly RunOutcome[]): ScenarioResult {
  const names = new Set(runs.flatMap((run) => Object.keys(run.figures)))
  const figures = [...names].map((name) => [
    name,
    figureOf(runs.flatMap((run) => run.figures[name] ?? [])),
  ])
  return { figures: Object.fromEntries(figures), faults: runs.flatMap(({ faults }) => faults) }
}

export function figureOf(runs: readonly number[]): Figure {
  const sorted = runs.toSorted((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return { median: (low + high) / 2, min: sorted[0], max: sorted[sorted.length - 1], runs }
}

/** @throws Error  when it is not a result file */
export function parseResults(json: string, name: string): Results {
  const results = JSON.parse(json) as Partial<Results>
  if (results.format === RESULTS_FORMAT) return results as Results
  throw new Error(`${name} is not a result of npm run loadtest`)
}
