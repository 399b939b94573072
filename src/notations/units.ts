/**
 * Units of distances.
 *
 * @module
 */

/**
 * @param units  m, km, mi (the international mile), ft (the international foot) or NM and nmi (the
 * nautical mile), or a word for one of them; in any letter case, but for NM: nm is the nanometre
 * @returns the distance in metres, undefined for units that are not known
 */
export function metresOf(value: number, units: string): number | undefined {
  const metres = units === 'NM' ? NAUTICAL_MILE : METRES.get(units.toLowerCase())
  return metres === undefined ? undefined : value * metres
}

/** Of one unit. The foot and the mile are of 1959, the nautical mile of 1929. */
const KILOMETRE = 1_000
const MILE = 1_609.344
const FOOT = 0.3048
const NAUTICAL_MILE = 1_852

/** In lower case. */
const METRES: ReadonlyMap<string, number> = new Map([
  ...['m', 'metre', 'metres', 'meter', 'meters'].map((name) => [name, 1] as const),
  ...['km', 'kilometre', 'kilometres', 'kilometer', 'kilometers'].map(
    (name) => [name, KILOMETRE] as const,
  ),
  ...['mi', 'mile', 'miles'].map((name) => [name, MILE] as const),
  ...['ft', 'foot', 'feet'].map((name) => [name, FOOT] as const),
  ...['nmi', 'nautical mile', 'nautical miles', 'nauticalmile', 'nauticalmiles'].map(
    (name) => [name, NAUTICAL_MILE] as const,
  ),
])
