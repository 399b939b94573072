/**
 * Reads bodies both ways and compares what becomes of them.
 *
 * @module
 */
import { seededRandom } from '../../support/random/world.js'
import { bodyMaker } from './bodies.js'
import { outcomeOf, type Reader } from './compare.js'
import { interrupted, isShort, longWay, shortWay } from './readers.js'

export interface ReaderReport {
  bodyCount: number
  /** Bodies that became a query. */
  validCount: number
  /** Bodies that were read the short way to their end. */
  shortCount: number
  /** Bodies that became something else on another way. */
  readonly differences: Difference[]
}

interface Difference {
  readonly body: string
  readonly long: string
  readonly other: string
}

const DIFFERENCE_COUNT_MAX = 20
/** Bodies of one random world. */
const WORLD_BODY_COUNT = 10_000

/** @param reference  what all are compared with */
export function fuzzReaders(
  seed: number,
  bodyCount: number,
  reference: Reader = longWay,
): ReaderReport {
  const report: ReaderReport = { bodyCount: 0, validCount: 0, shortCount: 0, differences: [] }
  for (let world = 0; report.bodyCount < bodyCount; world++) {
    const random = seededRandom(seed + world)
    const next = bodyMaker(random)
    const count = Math.min(WORLD_BODY_COUNT, bodyCount - report.bodyCount)
    for (let i = 0; i < count; i++) compare(next(), reference, report)
  }
  return report
}

function compare(body: Buffer, reference: Reader, report: ReaderReport): void {
  const long = outcomeOf(reference, body)
  report.bodyCount++
  if (long.startsWith('{')) report.validCount++
  if (isShort(body)) report.shortCount++
  // A reader must not depend on the length or the life of what it is given.
  const transient = Buffer.concat([body])
  for (const read of [shortWay, report.bodyCount % 8 === 0 ? interrupted : longWay]) {
    const other = outcomeOf(read, transient)
    if (other === long || report.differences.length === DIFFERENCE_COUNT_MAX) continue
    report.differences.push({ body: body.toString('latin1'), long, other })
  }
}

export function describeReport({ bodyCount, validCount, shortCount, differences }: ReaderReport) {
  return (
    `${bodyCount} bodies, ${validCount} valid, ${shortCount} read the short way, ` +
    `${differences.length} different`
  )
}
