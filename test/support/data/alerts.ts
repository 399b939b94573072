/**
 * Alerts of random polygons and circles, as XML and as the oracle reads them.
 *
 * @module
 */
import { areaOf, type Facts, factsOf, writeAlert } from '../../cap/writer.js'
import { readGeometry, union } from '../../oracle/geometry/geometry.js'
import type { Region } from '../../oracle/verdict.js'
import type { Random } from '../random/world.js'

/** In degrees, longitude first; a ring is closed. */
export type AlertShape =
  | { readonly kind: 'polygon'; readonly ring: readonly (readonly number[])[] }
  | { readonly kind: 'circle'; readonly centre: readonly number[]; readonly radiusKm: number }

/** Polygons of three or four corners, and circles, around places in units. */
export function randomAlertShape(
  random: Random,
  [lng, lat]: readonly [lng: number, lat: number],
  sizeUnits: number,
): AlertShape {
  const near = (value: number) => value + random.between(-sizeUnits, sizeUnits)
  const degrees = (units: number) => units / 1e7
  if (random.unit() < 0.4) {
    // A unit is 1.1 cm.
    const radiusKm = Number((random.between(1, sizeUnits) * 1.1e-5).toFixed(7))
    return { kind: 'circle', centre: [degrees(lng), degrees(lat)], radiusKm }
  }
  for (;;) {
    const [west, east] = [near(lng), near(lng)]
    const [south, north] = [near(lat), near(lat)]
    const corners =
      random.unit() < 0.5
        ? [
            [west, south],
            [east, south],
            [east, north],
            [west, north],
          ]
        : [
            [west, south],
            [east, north],
            [near(lng), near(lat)],
          ]
    if (doubleAreaOf(corners) === 0) continue
    const ring = [...corners, corners[0]].map((corner) => corner.map(degrees))
    return { kind: 'polygon', ring }
  }
}

function doubleAreaOf(corners: readonly (readonly number[])[]): number {
  const [[x, y]] = corners
  return corners.slice(2).reduce((sum, [x2, y2], i) => {
    const [x1, y1] = corners[i + 1]
    return sum + (x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)
  }, 0)
}

/** Who is in any of them, by brute force. */
export function regionOf(shapes: readonly AlertShape[]): Region {
  return union(
    shapes.map((shape) =>
      shape.kind === 'circle'
        ? readGeometry({ type: 'Point', coordinates: shape.centre }, shape.radiusKm * 1_000)
        : readGeometry({ type: 'Polygon', coordinates: [shape.ring] }, undefined),
    ),
  )
}

export interface TestAlert {
  readonly identifier: string
  readonly msgType?: 'Alert' | 'Update' | 'Cancel' | 'Ack'
  /** Identifiers. */
  readonly references?: readonly string[]
  readonly shapes?: readonly AlertShape[]
  /** More areas. */
  readonly areas?: readonly Facts[]
  readonly sender?: string
  readonly sent?: string
}

/** A Cancel without shapes has no info. */
export function alertXml(alert: TestAlert): string {
  const { identifier, msgType = 'Alert', references = [], shapes = [] } = alert
  const { areas = [], sender = SENDER, sent = SENT } = alert
  // Some shapes have an area of their own, and some share one.
  const members = shapes.map(factOf)
  const half = members.length >> 1
  const drawn = [members.slice(0, half), members.slice(half)]
    .filter((own) => own.length > 0)
    .map((own) => areaOf(...own))
  const all = [...drawn, ...areas]
  const facts = factsOf(all, { identifier, msgType, sender, sent, expires: EXPIRES }).filter(
    ([name]) => name !== 'info' || all.length > 0,
  )
  if (references.length > 0) {
    const triples = references.map((each) => `${SENDER},${each},${SENT}`).join(' ')
    facts.splice(6, 0, ['references', triples])
  }
  return writeAlert('1.2', facts)
}

const SENDER = 'desk@example.org'
export const SENT = '2026-05-24T16:49:00-07:00'
/** Without it, an alert that was sent long ago is warned of. */
const EXPIRES = '2999-05-24T16:49:00-07:00'

function factOf(shape: AlertShape): Facts {
  const pair = ([lng, lat]: readonly number[]) => `${lat.toFixed(7)},${lng.toFixed(7)}`
  return shape.kind === 'circle'
    ? ['circle', `${pair(shape.centre)} ${shape.radiusKm.toFixed(7)}`]
    : ['polygon', shape.ring.map(pair).join(' ')]
}

/** An alert in the form of api.weather.gov. @param ring  in degrees, longitude first */
export function weatherFeature(ring: readonly (readonly number[])[], changes: object) {
  return {
    type: 'Feature',
    geometry: { type: 'Polygon', coordinates: [ring] },
    properties: {
      '@type': 'wx:Alert',
      id: 'a',
      areaDesc: 'somewhere',
      geocode: {},
      sender: 'desk@example.org',
      sent: '2026-05-24T16:49:00-05:00',
      expires: '2999-01-01T00:00:00-00:00',
      status: 'Actual',
      messageType: 'Alert',
      category: 'Met',
      severity: 'Severe',
      certainty: 'Likely',
      urgency: 'Immediate',
      event: 'Flood Warning',
      response: 'Shelter',
      ...changes,
    },
  }
}
