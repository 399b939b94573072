/**
 * Guards of a source: bounds on what an import may replace it with unasked.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { toUnits } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import type { Box } from '../../shard/layout.js'

/** Rows, or a share in per cent. */
type Bound = { readonly rowCount: number } | { readonly percent: number }

export interface Guards {
  /** Of the rows read. */
  readonly maxRejected: Bound
  /** Of the recipients that the source held in the snapshot that the import starts from. */
  readonly maxShrink: Bound
  /** Accepted ones. */
  readonly minRowCount: number
  /** Where every accepted recipient must lie; it spans ±180 if it is west > east. */
  readonly within: Box | undefined
}

/** As flags and as members of `sources.json`; what is left out is as it was before. */
export interface GivenGuards {
  readonly maxRejected?: string | number | undefined
  readonly maxShrink?: string | number | undefined
  readonly minRows?: string | number | undefined
  readonly within?: string | readonly number[] | undefined
}

export const defaultGuards: Guards = {
  maxRejected: { percent: limits.rejectedPercent },
  maxShrink: { percent: limits.shrinkPercent },
  minRowCount: 0,
  within: undefined,
}

/**
 * @param nameOf  what to call a guard in an error, such as `--max-shrink`
 * @throws OperatorError  `Usage`, naming the guard and its value
 */
export function readGuards(
  given: GivenGuards,
  nameOf: (name: keyof GivenGuards) => string,
  otherwise: Guards,
): Guards {
  const { maxRejected, maxShrink, minRows, within } = given
  return {
    maxRejected:
      maxRejected === undefined
        ? otherwise.maxRejected
        : readBound(maxRejected, nameOf('maxRejected')),
    maxShrink:
      maxShrink === undefined ? otherwise.maxShrink : readBound(maxShrink, nameOf('maxShrink')),
    minRowCount:
      minRows === undefined ? otherwise.minRowCount : readMinRows(minRows, nameOf('minRows')),
    within: within === undefined ? otherwise.within : readBox(within, nameOf('within')),
  }
}

/** Whether a part of a whole is beyond a bound; in integers, so that a share at the bound is not. */
export function exceeds(bound: Bound, part: number, whole: number): boolean {
  if ('rowCount' in bound) return part > bound.rowCount
  return part * 100 * PERCENT_STEPS > Math.round(bound.percent * PERCENT_STEPS) * whole
}

/** A percentage has at most four decimals. */
const PERCENT_STEPS = 10_000

export function formatBound(bound: Bound): string {
  return 'rowCount' in bound ? String(bound.rowCount) : `${bound.percent}%`
}

function readBound(value: string | number, name: string): Bound {
  const text = String(value).trim()
  const percent = /^([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%$/.exec(text)?.[1]
  if (percent !== undefined && Number(percent) <= 100) return { percent: Number(percent) }
  if (isRowCount(text)) return { rowCount: Number(text) }
  throw new OperatorError(
    'Usage',
    `${name} is a number of rows or a share such as 5% (up to 100%, four decimals), not "${text}"`,
  )
}

function readMinRows(value: string | number, name: string): number {
  const text = String(value).trim()
  if (isRowCount(text)) return Number(text)
  throw new OperatorError('Usage', `${name} is a whole number of rows, not "${text}"`)
}

function isRowCount(text: string): boolean {
  return /^[0-9]{1,15}$/.test(text) && Number(text) <= limits.guardRowCount
}

function readBox(value: string | readonly number[], name: string): Box {
  const degrees =
    typeof value === 'string'
      ? value.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
      : value
  const [west, south, east, north] = degrees
  const fault = boxFault(degrees)
  if (fault === undefined) {
    return {
      minLng: toUnits(west),
      minLat: toUnits(south),
      maxLng: toUnits(east),
      maxLat: toUnits(north),
    }
  }
  const shown = typeof value === 'string' ? value : value.join(',')
  throw new OperatorError(
    'Usage',
    `${name} is west,south,east,north in degrees, longitude first, such as -96,29,-95,30: ` +
      `"${shown}" ${fault}`,
  )
}

function boxFault(degrees: readonly number[]): string | undefined {
  const [west, south, east, north] = degrees
  if (degrees.length !== 4 || !degrees.every(Number.isFinite)) return 'is not four numbers'
  if (Math.abs(west) > 180 || Math.abs(east) > 180) return 'has a longitude beyond ±180'
  if (Math.abs(south) > 90 || Math.abs(north) > 90) return 'has a latitude beyond ±90'
  if (south > north) return 'has its south above its north'
  return undefined
}
