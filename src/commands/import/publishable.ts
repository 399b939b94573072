/**
 * Whether what was read of a source may take the place of what is there.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Reference } from '../../snapshot/retention/reference.js'
import type { ReadReport } from '../../sources/batch.js'
import { exceeds, formatBound, type GivenGuards, type Guards } from './guards.js'
import type { ImportSource, Reading } from './source.js'

/** What guards look at. */
type Guarded = Pick<ImportSource, 'id' | 'guards' | 'policy' | 'mayBeEmpty'>

interface Counted {
  readonly report: Pick<ReadReport, 'rowCount' | 'acceptedCount' | 'rejectedCount'>
  readonly outsideCount: number
}

type GuardName = keyof GivenGuards

/** A guard that holds an import back. */
interface Trip {
  readonly guard: GuardName
  /** What was found, and what would let it through. */
  readonly text: string
}

const ADVICE = {
  exchanged:
    'latitude and longitude look exchanged, since all positions would be valid with the column of --lng as --lat and that of --lat as --lng; GeoJSON has the longitude first',
  projected:
    'the positions look projected, as both coordinates of each are beyond 180: degrees of WGS 84 are needed, as ogr2ogr -t_srs EPSG:4326 writes them',
  other: '--dry-run shows the columns that are read, and --rejects FILE the reason of each row',
}

/**
 * @param heldCount  recipients of the source so far; undefined for a source that is new
 * @throws OperatorError  `InputRejected`, or `Guarded` naming every guard that trips
 */
export function assertPublishable(
  source: ImportSource,
  { report, outsideCount }: Reading,
  heldCount: number | undefined,
): void {
  const { rowCount, rejectedCount } = report
  if (source.isStrict && rejectedCount > 0) {
    throw new OperatorError(
      'InputRejected',
      `--strict: ${rejectedCount} of ${rowCount} rows were rejected, nothing was published`,
    )
  }
  if (rejectedCount > 0 && rejectedCount === rowCount) {
    throw new OperatorError(
      'InputRejected',
      `every row was rejected, nothing was published: ${ADVICE[report.misplacement ?? 'other']}`,
    )
  }
  if (rowCount === 0 && !source.mayBeEmpty) assertNotEmptied(source, heldCount ?? 0)
  assertUnguarded(source, { report, outsideCount }, heldCount)
  if (rowCount > 0 || source.mayBeEmpty || heldCount !== undefined) return
  throw new OperatorError(
    'InputRejected',
    'the files have no row, nothing was published; --allow-empty begins with an empty source',
  )
}

/**
 * @param heldCount  as for `assertPublishable`
 * @throws OperatorError  `Guarded` naming every guard that trips
 */
export function assertUnguarded(
  source: Guarded,
  reading: Counted,
  heldCount: number | undefined,
): void {
  const trips = findTrips(source, source.guards, reading, heldCount)
  if (trips.length === 0) return
  const texts = trips.map(({ text }) => text).join('; ')
  throw new OperatorError('Guarded', `nothing was published: ${texts}`)
}

/**
 * The guards that were overruled: those of the source, before flags, that what was read trips beside what
 * the source held or beside what it had when it was last good.
 */
export function findForced(
  source: Guarded,
  reading: Counted,
  { heldCounts, sources }: Reference,
): GuardName[] {
  const { acceptedCount } = reading.report
  const goodCount = sources.find(({ id }) => id === source.id)?.goodCount ?? 0
  const trips = [heldCounts.get(source.id), goodCount].flatMap((count) =>
    findTrips({ ...source, mayBeEmpty: false }, source.policy, reading, count),
  )
  const forced = new Set(trips.map(({ guard }) => guard))
  const lostCount = goodCount - acceptedCount
  if (exceeds({ percent: limits.goodShrinkPercent }, lostCount, goodCount)) forced.add('maxShrink')
  return [...forced]
}

/** The guards that what was read would trip. A source that may be empty may also shrink to nothing. */
function findTrips(
  { mayBeEmpty }: Pick<Guarded, 'mayBeEmpty'>,
  { maxRejected, maxShrink, minRowCount, within }: Guards,
  { report, outsideCount }: Counted,
  heldCount = 0,
): Trip[] {
  const { rowCount, acceptedCount, rejectedCount } = report
  const trips: Trip[] = []
  if (exceeds(maxRejected, rejectedCount, rowCount)) {
    const found = `${rejectedCount} of ${rowCount} rows (${percentOf(rejectedCount, rowCount)}) were rejected`
    const passing = sameKind(maxRejected, rejectedCount, rowCount)
    trips.push({
      guard: 'maxRejected',
      text: `${found}, more than ${formatBound(maxRejected)}; --max-rejected ${passing} lets them through`,
    })
  }
  const lostCount = Math.max(0, heldCount - acceptedCount)
  if (!(mayBeEmpty && rowCount === 0) && exceeds(maxShrink, lostCount, heldCount)) {
    const found = `${acceptedCount} recipients would replace ${heldCount}, ${percentOf(lostCount, heldCount)} less`
    const passing = sameKind(maxShrink, lostCount, heldCount)
    trips.push({
      guard: 'maxShrink',
      text: `${found}, and at most ${formatBound(maxShrink)} is allowed; --max-shrink ${passing} lets them through`,
    })
  }
  if (acceptedCount < minRowCount) {
    trips.push({
      guard: 'minRows',
      text: `${acceptedCount} rows were accepted, and ${minRowCount} are the least; --min-rows ${acceptedCount} lets them through`,
    })
  }
  if (within !== undefined && outsideCount > 0) {
    trips.push({
      guard: 'within',
      text:
        `${outsideCount} of ${acceptedCount} recipients (${percentOf(outsideCount, acceptedCount)}) lie ` +
        'outside the box (are latitude and longitude exchanged?); a wider --within lets them through',
    })
  }
  return trips
}

/** An export that was cut short right behind its header must not empty a source unasked. */
function assertNotEmptied({ id, input }: ImportSource, heldCount: number): void {
  if (heldCount > 0) {
    throw new OperatorError(
      'InputRejected',
      `there is no row to replace the ${heldCount} recipients of source ${id}, ` +
        'nothing was published; --allow-empty empties it',
    )
  }
  if ('query' in input) {
    throw new OperatorError(
      'InputRejected',
      'the query gave no row, nothing was published; --allow-empty accepts an empty source',
    )
  }
}

/** With two decimals, and told from 0 and from 100 %. */
function percentOf(part: number, whole: number): string {
  const shown = Number(((100 * part) / whole).toFixed(2))
  if (shown === 0) return 'less than 0.01 %'
  return shown === 100 && part < whole ? 'more than 99.99 %' : `${shown} %`
}

/** The least bound of the kind of another that lets a part through; a share in whole per cents. */
function sameKind(bound: { rowCount: number } | object, part: number, whole: number): string {
  return 'rowCount' in bound ? String(part) : `${Math.ceil((100 * part) / whole)}%`
}
