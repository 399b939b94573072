/**
 * Each phone once, by brute force.
 *
 * @module
 */
import { type AnsweredRecord, keyOf } from './compare.js'

export interface DistinctSource {
  readonly id: number
  /** In the order of the list, each different from the others. */
  readonly keys: readonly string[]
  readonly phones: readonly string[]
  readonly contacts: readonly number[]
}

/**
 * What is listed of each source, as keys in order: of each contact the first one where contacts count,
 * and of these of each phone the first one over all sources.
 *
 * @param found  who is selected of each source, by keys
 */
export function distinctOf(
  sources: readonly DistinctSource[],
  found: readonly ReadonlySet<string>[],
  byContact: boolean,
): string[][] {
  const seen = new Set<string>()
  return sources.map(({ keys, phones, contacts }, source) => {
    const contactsSeen = new Set<number>()
    return keys.filter((key, at) => {
      if (!found[source].has(key)) return false
      if (byContact && contactsSeen.has(contacts[at])) return false
      contactsSeen.add(contacts[at])
      if (seen.has(phones[at])) return false
      seen.add(phones[at])
      return true
    })
  })
}

/**
 * Holds the answers to a request for each phone once against those to the same request for
 * everybody, which others have held against the oracle.
 */
export function compareDistinct(
  known: readonly DistinctSource[],
  everybody: readonly AnsweredRecord[],
  byContact: boolean,
  listed: readonly AnsweredRecord[],
  counted: readonly AnsweredRecord[],
): string[] {
  const sources = everybody.map(({ SourceId }) => {
    const source = known.find(({ id }) => id === SourceId)
    if (source === undefined) throw new Error('the oracle knows all sources')
    return source
  })
  const expected = distinctOf(
    sources,
    everybody.map((record) => new Set(keysOf(record))),
    byContact,
  )
  return sources.flatMap(({ id }, at) => {
    const keys = keysOf(listed[at])
    const same = keys.length === expected[at].length && keys.every((k, i) => k === expected[at][i])
    const counts = [listed[at].Count, counted[at].Count]
    if (same && counts.every((count) => count === keys.length)) return []
    const phones = `${keys.length} listed, ${counts.join(' and ')} counted`
    return [`source ${id}: each number once is ${expected[at].length}, ${phones}`]
  })
}

export function keysOf({ Recipients = [] }: AnsweredRecord): string[] {
  return Recipients.map(({ Number: phone, LatLng }) => keyOf(phone, LatLng.Lng, LatLng.Lat))
}
