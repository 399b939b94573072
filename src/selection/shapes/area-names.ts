/**
 * Names of areas of the gazetteer: a list of them as a member of a request, or in the properties of a feature
 * whose geometry is null.
 *
 * @module
 */
import { lowerCase } from '../../interface/letter-case.js'
import { limits } from '../../limits.js'
import type { NamedArea, NamedAreas } from '../named-areas.js'
import { isObject, type JsonObject, kindOf, member } from '../parse.js'
import { fail } from './positions.js'

interface SentName {
  readonly name: string
  /** Where it was sent. */
  readonly at: string
}

/**
 * The names in a list, or the one that stands instead of it. A name that is there twice counts once.
 *
 * @throws ServiceError  InvalidRequest
 */
export function namesIn(value: unknown, path: string): readonly SentName[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [{ name: value, at: path }]
  if (!Array.isArray(value)) {
    fail(
      'InvalidRequest',
      `must be a list of names, each a layer and a key such as counties:48201, not ${kindOf(value)}`,
      path,
    )
  }
  if (value.length > limits.areaNameCount) {
    fail('TooComplex', `has more than ${limits.areaNameCount} names`, path)
  }
  const seen = new Set<string>()
  const names: SentName[] = []
  for (const [index, name] of value.entries()) {
    const at = `${path}[${index}]`
    if (typeof name !== 'string') {
      fail(
        'InvalidRequest',
        `must be a name, a layer and a key such as counties:48201, not ${kindOf(name)}`,
        at,
      )
    }
    if (!seen.has(name)) names.push({ name, at })
    seen.add(name)
  }
  return names
}

/**
 * The names that a feature has in its properties instead of a geometry; undefined where it has none. Beside a
 * geometry, `area` is the client's own.
 *
 * @throws ServiceError  InvalidRequest
 */
export function areaNamesOf(feature: JsonObject, path: string): readonly SentName[] | undefined {
  const geometry = member(feature, 'geometry')
  if (geometry !== undefined && geometry !== null) return undefined
  const properties = member(feature, 'properties')
  if (!isObject(properties)) return undefined
  const area = member(properties, AREA)
  if (area === undefined || area === null) {
    const likely = member(properties, 'areas')
    if (likely === undefined || likely === null) return undefined
    fail('InvalidGeoJson', 'is not read: a feature names areas in area', `${path}.properties.areas`)
  }
  return namesIn(area, `${path}.properties.${AREA}`)
}

/** Whether properties may have what `areaNamesOf` looks for, or those of an alert. */
export function mayNameAreas(properties: unknown): boolean {
  if (!isObject(properties)) return false
  for (const name in properties) {
    const lower = lowerCase(name)
    if (name === 'areaDesc' || name === '@type' || lower === AREA || lower === 'areas') return true
  }
  return false
}

const AREA = 'area'

/**
 * Finds the area of a geocode of an alert, which has the name of its system and its code apart.
 *
 * @throws ServiceError  UnknownArea
 */
export function findGeocode(areas: NamedAreas | undefined, name: string, at: string): NamedArea {
  return areas?.find(name) ?? fail('UnknownArea', unknownGeocode(areas, name), at)
}

/** What is wrong with a geocode that no area has. It is repeated where it cannot be a phone number or a place. */
export function unknownGeocode(areas: NamedAreas | undefined, name: string): string {
  const shown = /^[\w.-]+:[A-Za-z0-9]{1,6}$/.test(name) ? `is ${name}, which is` : 'is'
  const nearest = areas?.nearest(name) ?? []
  const advice = nearest.length === 0 ? '' : `: do you mean ${nearest.join(' or ')}?`
  return `${shown} the name of no area of the gazetteer${advice}`
}

/** @throws ServiceError  UnknownArea, with names that are nearly this one */
export function findArea(areas: NamedAreas | undefined, name: string, at: string): NamedArea {
  if (areas === undefined) fail('UnknownArea', 'names an area, and the service knows none', at)
  const area = areas.find(name)
  if (area !== undefined) return area
  const nearest = areas.nearest(name)
  const advice =
    nearest.length === 0
      ? 'a name is a layer and a key, such as counties:48201; GET /api/areas?q=… finds it by what it is called'
      : `do you mean ${nearest.join(' or ')}?`
  return fail('UnknownArea', `is the name of no area: ${advice}`, at)
}
