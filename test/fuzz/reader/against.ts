/**
 * Compares the ways to read a body with the long way of another build, such as one of an older commit:
 *
 *   node dist/test/fuzz/reader/against.js --dist DIST [--requests N] [--seed S]
 *
 * @module
 */
import { readOptions } from '../../support/read-options.js'
import { describeReport, fuzzReaders } from './fuzz.js'
import { longWayOf } from './readers.js'

const SHOWN_CHAR_COUNT = 300

const values = readOptions('node dist/test/fuzz/reader/against.js', {
  dist: { type: 'string', default: 'dist' },
  requests: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
})
const say = (line: string) => process.stdout.write(`${line}\n`)
const reference = await longWayOf(values.dist)
const report = fuzzReaders(Number(values.seed), Number(values.requests), reference)
for (const { body, long, other } of report.differences) {
  let at = 0
  while (long[at] === other[at]) at++
  const start = Math.max(0, at - SHOWN_CHAR_COUNT / 2)
  const shown = (text: string) => JSON.stringify(text.slice(start, start + SHOWN_CHAR_COUNT))
  say(`DIFFERENT ${JSON.stringify(body)}\n  ${shown(long)}\n  ${shown(other)}`)
}
say(`${describeReport(report)} (seed ${values.seed})`)
process.exitCode = report.differences.length === 0 ? 0 : 1
