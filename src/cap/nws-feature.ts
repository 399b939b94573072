/**
 * An alert as api.weather.gov has it: a Feature of GeoJSON with the members of CAP in its properties. Its geometry
 * is the polygon of the warning, or null where the alert is for zones and counties.
 *
 * @module
 */

import { type CapTime, readTime } from './date-time.js'
import { CapFaults } from './faults.js'
import { addingAndHoles } from './geocode-systems.js'
import type { Alert, AlertArea, AlertReference, AlertText, NamedValue } from './model.js'
import {
  CATEGORIES,
  CERTAINTIES,
  MESSAGE_TYPES,
  RESPONSE_TYPES,
  SCOPES,
  SEVERITIES,
  STATUSES,
  URGENCIES,
} from './versions.js'

/** Whether a Feature is an alert of api.weather.gov, and not a shape to be taken as it is drawn. */
export function isNwsAlert(value: unknown): boolean {
  if (!isObject(value) || value.type !== 'Feature' || !isObject(value.properties)) return false
  const { properties } = value
  if (properties['@type'] === 'wx:Alert') return true
  return ['areaDesc', 'messageType', 'status', 'event'].every(
    (name) => typeof properties[name] === 'string',
  )
}

/**
 * @param value  of which `isNwsAlert` holds
 * @throws ServiceError  InvalidCap, with the path of the member at fault
 */
export function readNwsAlert(value: unknown, path: string): Alert {
  const faults = new CapFaults()
  const alert = nwsAlertOf(value, path, faults)
  faults.refuse()
  return alert
}

/** The same, for whoever is to be told everything that is wrong. */
export function inspectNwsAlert(
  value: unknown,
  path: string,
): { readonly alert: Alert; readonly faults: CapFaults } {
  const faults = new CapFaults()
  return { alert: nwsAlertOf(value, path, faults), faults }
}

type JsonObject = Readonly<Record<string, unknown>>

function nwsAlertOf(value: unknown, path: string, faults: CapFaults): Alert {
  const feature = isObject(value) ? value : {}
  const members = isObject(feature.properties) ? feature.properties : {}
  return new NwsReader(members, `${path}.properties`, faults).read(feature.geometry, path)
}

class NwsReader {
  readonly #members: JsonObject
  readonly #path: string
  readonly #faults: CapFaults

  constructor(members: JsonObject, path: string, faults: CapFaults) {
    this.#members = members
    this.#path = path
    this.#faults = faults
  }

  read(geometry: unknown, path: string): Alert {
    const none: CapTime = { text: '', atMs: 0, isAsWritten: false }
    return {
      version: '1.2',
      identifier: this.#text('id') ?? this.#required('@id'),
      sender: this.#required('sender'),
      sent: this.#time('sent') ?? none,
      status: this.#oneOf('status', STATUSES) ?? 'Actual',
      msgType: this.#oneOf('messageType', MESSAGE_TYPES) ?? 'Alert',
      scope: this.#members.scope === undefined ? undefined : this.#oneOf('scope', SCOPES),
      codes: this.#list('code').filter((code) => typeof code === 'string'),
      ...this.#references(),
      isSigned: false,
      infos: [
        {
          language: this.#text('language') || 'en-US',
          categories: [this.#oneOf('category', CATEGORIES) ?? 'Other'],
          event: this.#required('event'),
          responseTypes: this.#members.response
            ? [this.#oneOf('response', RESPONSE_TYPES) ?? '']
            : [],
          urgency: this.#oneOf('urgency', URGENCIES) ?? 'Unknown',
          severity: this.#oneOf('severity', SEVERITIES) ?? 'Unknown',
          certainty: this.#oneOf('certainty', CERTAINTIES) ?? 'Unknown',
          eventCodes: this.#namedValues('eventCode'),
          effective: this.#time('effective'),
          onset: this.#time('onset'),
          expires: this.#time('expires'),
          senderName: this.#text('senderName'),
          headline: this.#text('headline'),
          parameters: this.#namedValues('parameters'),
          areas: [this.#area(geometry, `${path}.geometry`)],
          path: this.#path,
        },
      ],
      path: this.#path,
    }
  }

  #area(geometry: unknown, path: string): AlertArea {
    return {
      areaDesc: this.#required('areaDesc'),
      polygons: this.#polygons(geometry, path),
      circles: [],
      ...addingAndHoles(this.#geocodes(), this.#faults),
      altitude: undefined,
      ceiling: undefined,
      path: this.#path,
    }
  }

  /** Written as CAP writes them, so that the same is checked of them. */
  #polygons(geometry: unknown, path: string): readonly AlertText[] {
    if (geometry === null || geometry === undefined) return []
    const { type, coordinates } = isObject(geometry) ? geometry : {}
    const polygons = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : []
    if (!Array.isArray(polygons) || polygons.length === 0) {
      this.#faults.add('InvalidCap', path, 'must be null, or a Polygon or a MultiPolygon')
      return []
    }
    return polygons.map((rings: unknown, i) => {
      const at = type === 'Polygon' ? `${path}.coordinates` : `${path}.coordinates[${i}]`
      return { text: this.#ringText(rings, at), path: at }
    })
  }

  #ringText(rings: unknown, path: string): string {
    if (!Array.isArray(rings) || rings.length !== 1 || !Array.isArray(rings[0])) {
      const problem = 'must be one ring, since CAP has no holes: send it as geoJSON'
      this.#faults.add('InvalidCap', path, problem)
      return ''
    }
    const pairs = rings[0].map((position: unknown) => {
      const isPosition =
        Array.isArray(position) &&
        position.length >= 2 &&
        position.slice(0, 2).every(Number.isFinite)
      return isPosition ? `${position[1]},${position[0]}` : undefined
    })
    if (!pairs.includes(undefined)) return pairs.join(' ')
    this.#faults.add('InvalidCap', path, 'must hold positions: longitude and latitude')
    return ''
  }

  /** SAME and UGC as they are, and without UGC the zones by their addresses. Those for fires have shapes of their own. */
  #geocodes(): readonly NamedValue[] {
    const { geocode } = this.#members
    const fires = new Set<string>()
    const others = new Set<string>()
    const zones: NamedValue[] = []
    for (const [i, zone] of this.#list('affectedZones').entries()) {
      const match = typeof zone === 'string' ? ZONE.exec(zone) : null
      const path = `${this.#path}.affectedZones[${i}]`
      if (match === null) {
        this.#faults.add('InvalidCap', path, 'must be the address of a zone')
        continue
      }
      const [, kind, code] = match
      if (kind === 'fire') fires.add(code)
      else others.add(code)
      zones.push({ name: kind === 'fire' ? 'UGC-FIRE' : 'UGC', value: code, path })
    }
    if (!isObject(geocode)) return zones
    const values = Object.entries(geocode).flatMap(([name, codes]) =>
      (Array.isArray(codes) ? codes : [codes]).flatMap((code: unknown, i) => {
        const path = `${this.#path}.geocode.${SYSTEMS.has(name) ? name : '*'}[${i}]`
        if (typeof code !== 'string') {
          this.#faults.add('InvalidCap', path, 'must be a text')
          return []
        }
        const named = { name, value: code, path }
        if (name !== 'UGC' || !fires.has(code)) return [named]
        const fire = { ...named, name: 'UGC-FIRE' }
        return others.has(code) ? [named, fire] : [fire]
      }),
    )
    return values.some(({ name }) => name === 'UGC' || name === 'UGC-FIRE')
      ? values
      : [...values, ...zones]
  }

  #references(): Pick<Alert, 'references' | 'areReferencesWhole'> {
    const references: AlertReference[] = []
    let areReferencesWhole = true
    for (const each of this.#list('references')) {
      const { sender, identifier, sent } = isObject(each) ? each : {}
      if (
        typeof sender === 'string' &&
        typeof identifier === 'string' &&
        typeof sent === 'string'
      ) {
        references.push({ sender, identifier, sent })
      } else {
        areReferencesWhole = false
      }
    }
    return { references, areReferencesWhole }
  }

  #namedValues(name: string): readonly NamedValue[] {
    const values = this.#members[name]
    if (!isObject(values)) return []
    return Object.entries(values).flatMap(([key, list]) =>
      (Array.isArray(list) ? list : [list]).map((value: unknown) => ({
        name: key,
        value: String(value),
        path: `${this.#path}.${name}`,
      })),
    )
  }

  #list(name: string): readonly unknown[] {
    const value = this.#members[name]
    return Array.isArray(value) ? value : []
  }

  #text(name: string): string | undefined {
    const value = this.#members[name]
    return typeof value === 'string' ? value.trim() : undefined
  }

  #required(name: string): string {
    const text = this.#text(name)
    if (text === undefined || text === '')
      this.#faults.add('InvalidCap', this.#path, `has no ${name}`)
    return text ?? ''
  }

  #oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const text = this.#required(name)
    if (text !== '' && !values.some((value) => value === text)) {
      this.#faults.add('InvalidCap', `${this.#path}.${name}`, `must be one of ${values.join(', ')}`)
    }
    return text as Value
  }

  #time(name: string): CapTime | undefined {
    const text = this.#text(name)
    if (text === undefined) {
      if (name === 'sent') this.#faults.add('InvalidCap', this.#path, 'has no sent')
      return undefined
    }
    const time = readTime(text)
    if (time === undefined) {
      this.#faults.add('InvalidCap', `${this.#path}.${name}`, 'must be a time with its zone')
    }
    return time
  }
}

const ZONE =
  /^https?:\/\/[^/\s]+\/zones\/(forecast|county|fire|public|coastal|offshore|land)\/([A-Z]{2}[CZ]\d{3})$/

const SYSTEMS: ReadonlySet<string> = new Set(['SAME', 'UGC'])

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
