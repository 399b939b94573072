/**
 * What the oracle says of a recipient, and how that is put together. `either` is what is too near
 * to the limit of a distance for two formulas to agree on.
 *
 * @module
 */

export type Verdict = 'inside' | 'outside' | 'either'

/** A set of places on the globe. */
export type Region = (lngUnits: number, latUnits: number) => Verdict

/** In any of several sets. */
export function anyOf(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('inside')) return 'inside'
  return verdicts.includes('either') ? 'either' : 'outside'
}

/** In one set and not in another. */
export function without(included: Verdict, excluded: Verdict): Verdict {
  if (included === 'outside' || excluded === 'inside') return 'outside'
  return included === 'either' || excluded === 'either' ? 'either' : 'inside'
}

/** In one set and in another. */
export function both(a: Verdict, b: Verdict): Verdict {
  if (a === 'outside' || b === 'outside') return 'outside'
  return a === 'either' || b === 'either' ? 'either' : 'inside'
}

/** Within a limit, where distances are known to within `doubt`. */
export function upTo(metres: number, limitMetres: number, doubtMetres: number): Verdict {
  if (metres < limitMetres - doubtMetres) return 'inside'
  return metres > limitMetres + doubtMetres ? 'outside' : 'either'
}

/** Nothing is nearer than itself, so a distance of nothing is never in doubt. */
export function upToOrSame(metres: number, limitMetres: number, doubtMetres: number): Verdict {
  return metres === 0 ? 'inside' : upTo(metres, limitMetres, doubtMetres)
}
