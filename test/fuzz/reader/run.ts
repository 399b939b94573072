/**
 * Compares the short way to read a body with the long way:
 *
 *   npm run fuzz:reader -- [--requests N] [--seed S] [--against DIST]
 *
 * `--against` names the folder `dist` of another build, whose reader is then the one to agree with.
 *
 * @module
 */
import { readOptions } from '../../support/read-options.js'
import { describeReport, fuzzReaders } from './fuzz.js'
import { longWay, longWayOf } from './readers.js'

const SHOWN_CHAR_COUNT = 300

const values = readOptions('npm run fuzz:reader --', {
  requests: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  against: { type: 'string' },
})
const startedMs = performance.now()
const say = (line: string) => process.stdout.write(`${line}\n`)
const seconds = () => ((performance.now() - startedMs) / 1000).toFixed(0)
say(`seed ${values.seed}`)
const reference = values.against === undefined ? longWay : await longWayOf(values.against)
const report = fuzzReaders(
  Number(values.seed),
  Number(values.requests),
  (soFar) => {
    if (soFar.bodyCount % 100_000 === 0) say(`${seconds()} s: ${describeReport(soFar)}`)
  },
  reference,
)
for (const { body, long, other } of report.differences) {
  let at = 0
  while (long[at] === other[at]) at++
  const start = Math.max(0, at - SHOWN_CHAR_COUNT / 2)
  const shown = (text: string) => JSON.stringify(text.slice(start, start + SHOWN_CHAR_COUNT))
  say(`DIFFERENT ${JSON.stringify(body)}\n  ${shown(long)}\n  ${shown(other)}`)
}
say(`${describeReport(report)} (seed ${values.seed}, ${seconds()} s)`)
process.exitCode = report.differences.length === 0 ? 0 : 1
