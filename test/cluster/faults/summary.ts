/**
 * What faults have cost clients, over all episodes of each.
 *
 * @module
 */
import type { Episode } from './run.js'

/** One line for each fault, as a row of a table in Markdown: medians, and what was worst. */
export function summaryOf(episodes: readonly Episode[]): string[] {
  const names = [...new Set(episodes.map(({ fault }) => fault))]
  return [
    '| fault | times | writes, ms | reads, ms | reads of the last write, ms | ready again, ms |',
    '|---|---|---|---|---|---|',
    ...names.map((name) => {
      const those = episodes.filter(({ fault }) => fault === name)
      const range = (figure: (episode: Episode) => number) => rangeOf(those.map(figure))
      return `| ${[
        name,
        those.length,
        range(({ writeGapMs }) => writeGapMs),
        range(({ readGapMs }) => readGapMs),
        range(({ waitingReadGapMs }) => waitingReadGapMs),
        range(({ readyMs }) => readyMs),
      ].join(' | ')} |`
    }),
  ]
}

/** The median, the 99th percentile where there are enough, and the longest. */
function rangeOf(values: readonly number[]): string {
  const sorted = values.map(Math.round).sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]
  const p99 = sorted.length < 20 ? '' : `, p99 ${at(0.99)}`
  return `${at(0.5)}${p99}, at most ${sorted.at(-1)}`
}
