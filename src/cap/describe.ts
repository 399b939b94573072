/**
 * An alert and its area as rows for people.
 *
 * @module
 */
import { EARTH_RADIUS_METRES } from '../geometry/great-circle.js'
import type { DrawnFeature, Position } from '../notations/drawn.js'
import { pointCount } from './coordinates.js'
import type { CapDrawing } from './drawing.js'
import { areaNameOf } from './geocode-systems.js'
import type { Alert, AlertArea } from './model.js'

interface AlertDescription {
  /** Place, language, event, response types, urgency, severity, certainty, expires. */
  readonly infos: readonly (readonly string[])[]
  /** Place, number of polygons, of their points, of their holes and of circles, heights in feet, geocodes, name. */
  readonly areas: readonly (readonly string[])[]
  /** West, south, east and north of polygons and circles in degrees; undefined where there are none. */
  readonly bounds: readonly number[] | undefined
  readonly references: readonly string[]
}

export function describeAlert(alert: Alert, { drawing }: CapDrawing): AlertDescription {
  const { infos, references } = alert
  return {
    infos: infos.map((info, i) => [
      String(i),
      info.language,
      info.event,
      info.responseTypes.join(' '),
      info.urgency,
      info.severity,
      info.certainty,
      info.expires?.text ?? '',
    ]),
    areas: infos.flatMap(({ areas }, i) => areas.map((area, j) => rowOf(area, `${i}.${j}`))),
    bounds: boundsOf(drawing.features),
    references: references.map(({ sender, identifier, sent }) => `${sender},${identifier},${sent}`),
  }
}

function rowOf(area: AlertArea, place: string): readonly string[] {
  const { polygons, holes, circles, geocodes, areaDesc } = area
  const points = polygons.reduce((sum, polygon) => sum + pointCount(polygon), 0)
  const names = geocodes.map((geocode) => areaNameOf(geocode) ?? `${geocode.name}: not known`)
  const shown = names.slice(0, NAMES_SHOWN).join(' ')
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return [
    place,
    String(polygons.length),
    String(points),
    String(holes.length),
    String(circles.length),
    feetOf(area),
    `${shown}${more}`,
    areaDesc.length > NAME_CHARS ? `${areaDesc.slice(0, NAME_CHARS)}…` : areaDesc,
  ]
}

const NAMES_SHOWN = 6
const NAME_CHARS = 40

function feetOf({ altitude, ceiling }: AlertArea): string {
  if (altitude === undefined && ceiling === undefined) return ''
  return ceiling === undefined ? `${altitude}` : `${altitude ?? '?'} to ${ceiling}`
}

function boundsOf(features: readonly DrawnFeature[]): readonly number[] | undefined {
  let bounds: [number, number, number, number] | undefined
  const add = (west: number, south: number, east: number, north: number) => {
    const [w, s, e, n] = bounds ?? [west, south, east, north]
    bounds = [Math.min(w, west), Math.min(s, south), Math.max(e, east), Math.max(n, north)]
  }
  for (const { geometry, properties } of features) {
    if (geometry?.type === 'Point') {
      const [lng, lat] = geometry.coordinates as Position
      const [lngReach, latReach] = reachOf(lat, properties.radius ?? 0)
      add(
        lng - lngReach,
        Math.max(-90, lat - latReach),
        lng + lngReach,
        Math.min(90, lat + latReach),
      )
    } else if (geometry?.type === 'Polygon') {
      for (const [lng, lat] of geometry.coordinates[0]) add(lng, lat, lng, lat)
    } else if (geometry?.type === 'MultiPolygon') {
      const shells = geometry.coordinates.flatMap(([shell]) => shell)
      for (const [lng, lat] of shells) add(lng, lat, lng, lat)
    }
  }
  return bounds?.map((degrees) => Number(degrees.toFixed(4)))
}

/** How far a circle reaches east and north, in degrees; all round where it has a pole in it. */
function reachOf(lat: number, radiusMetres: number): readonly [lng: number, lat: number] {
  const angle = radiusMetres / EARTH_RADIUS_METRES
  const latReach = (angle * 180) / Math.PI
  const sine = Math.sin(angle) / Math.cos((lat * Math.PI) / 180)
  const isWhole = Math.abs(lat) + latReach >= 90 || sine >= 1
  return [isWhole ? 180 : (Math.asin(sine) * 180) / Math.PI, latReach]
}
