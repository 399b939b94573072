/**
 * Holds the answers to a request against what the oracle expects.
 *
 * @module
 */
import type { Expected } from './request.js'
import type { Verdict } from './verdict.js'

export interface AnsweredRecord {
  readonly SourceId: number
  readonly Count: number
  readonly Recipients?: readonly {
    readonly Number: string
    readonly LatLng: { readonly Lat: number; readonly Lng: number }
  }[]
}

/** What of a source is needed to recognise its recipients, in the order of the list. */
export interface KnownSource {
  readonly id: number
  /** Each different from the others. */
  readonly keys: readonly string[]
  readonly contacts: readonly number[]
}

export interface Comparison {
  /** What differs, by source; empty if nothing does. */
  readonly faults: readonly string[]
  readonly recipientCount: number
  /** Of these, who is surely inside, and who may be either. */
  readonly insideCount: number
  readonly eitherCount: number
}

export function keyOf(phone: string, lng: number, lat: number): string {
  return `${phone} ${lng} ${lat}`
}

export function compare(
  expected: Expected,
  sources: readonly KnownSource[],
  listed: readonly AnsweredRecord[],
  counted: readonly AnsweredRecord[],
): Comparison {
  const ids = expected.records.map(({ id }) => id).join()
  const faults: string[] = []
  for (const records of [listed, counted]) {
    const found = records.map(({ SourceId }) => SourceId).join()
    if (found !== ids) faults.push(`expected records of sources ${ids}, found ${found}`)
  }
  if (faults.length > 0) return { faults, recipientCount: 0, insideCount: 0, eitherCount: 0 }
  for (const [at, { id, verdicts }] of expected.records.entries()) {
    const source = sources.find((known) => known.id === id)
    if (source === undefined) throw new Error('the oracle knows all sources')
    const listedAt = positionsOf(listed[at], source)
    const compareLists = expected.byContact ? compareByContact : compareLocations
    const found = [
      ...listedAt.faults,
      ...compareLists(verdicts, listedAt.found, source),
      ...compareCounts(listed[at], counted[at]),
    ]
    faults.push(...found.map((fault) => `source ${id}: ${fault}`))
  }
  const verdicts = expected.records.flatMap((record) => record.verdicts)
  return {
    faults,
    recipientCount: verdicts.length,
    insideCount: verdicts.filter((verdict) => verdict === 'inside').length,
    eitherCount: verdicts.filter((verdict) => verdict === 'either').length,
  }
}

/** Where the listed recipients are in the order of the list. */
function positionsOf(
  { Recipients = [] }: AnsweredRecord,
  { keys }: KnownSource,
): { readonly found: ReadonlySet<number>; readonly faults: readonly string[] } {
  const known = new Map(keys.map((key, at) => [key, at]))
  const found = new Set<number>()
  const faults: string[] = []
  for (const { Number: phone, LatLng } of Recipients) {
    const at = known.get(keyOf(phone, LatLng.Lng, LatLng.Lat))
    if (at === undefined) faults.push('lists somebody unknown')
    else if (found.has(at)) faults.push(`lists ${keys[at]} twice`)
    else found.add(at)
  }
  return { found, faults }
}

function compareLocations(
  verdicts: readonly Verdict[],
  found: ReadonlySet<number>,
  { keys }: KnownSource,
): string[] {
  return verdicts.flatMap((verdict, at) => {
    if (verdict === 'inside' && !found.has(at)) return `misses ${keys[at]}`
    return verdict === 'outside' && found.has(at) ? `lists ${keys[at]}, who is outside` : []
  })
}

/** Of each contact the first location that is inside, or one before it that may be. */
function compareByContact(
  verdicts: readonly Verdict[],
  found: ReadonlySet<number>,
  { keys, contacts }: KnownSource,
): string[] {
  const locations = new Map<number, number[]>()
  for (const [at, contact] of contacts.entries()) {
    if (verdicts[at] === 'outside' && !found.has(at)) continue
    locations.set(contact, [...(locations.get(contact) ?? []), at])
  }
  return [...locations.values()].flatMap((places): string[] => {
    const firstInside = places.find((at) => verdicts[at] === 'inside')
    const listed = places.filter((at) => found.has(at))
    if (listed.length > 1) return [`lists a contact twice, as ${keys[listed[1]]}`]
    if (firstInside !== undefined && listed.length === 0) return [`misses ${keys[firstInside]}`]
    const wrong = listed.filter((at) => verdicts[at] === 'outside' || at > (firstInside ?? at))
    return wrong.map((at) => `lists ${keys[at]}, not the first location of its contact inside`)
  })
}

function compareCounts(listed: AnsweredRecord, counted: AnsweredRecord): string[] {
  const length = listed.Recipients?.length ?? 0
  if (listed.Count === length && counted.Count === length) return []
  return [`counted ${counted.Count}, announced ${listed.Count}, listed ${length}`]
}
