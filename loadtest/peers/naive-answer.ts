/**
 * Answers recipient requests as would be written in an afternoon: KDBush, the bounding box, and a
 * point-in-polygon library or the haversine formula for who is in it. Of the interface it knows
 * what a load run asks: polygons, multipolygons and circles, counted or listed.
 *
 * @module
 */
import pointInPolygon from 'point-in-polygon-hao'
import { circleBox, haversineMetres } from '../micro/distances.js'
import { toNaivePolygon } from '../micro/harness/naive.js'
import { isCircle, type SelectFeature } from '../requests/requests.js'
import type { NaiveRecipients } from './naive-recipients.js'

export interface NaiveRequest {
  readonly countsOnly?: boolean
  readonly geoJSON: { readonly features: readonly SelectFeature[] }
}

/** What becomes the answer by JSON.stringify. */
export function naiveAnswer(recipients: NaiveRecipients, request: NaiveRequest): object {
  const rows = rowsOf(recipients, request.geoJSON.features)
  const record = { SourceId: 1, Label: 'Residents', Count: rows.length, Status: 'Ok' }
  if (request.countsOnly) return { SourceRecords: [record] }
  const { lngs, lats, phoneOf } = recipients
  const listed = rows.map((row) => ({
    Number: phoneOf(row),
    LatLng: { Lat: lats[row], Lng: lngs[row] },
  }))
  return { SourceRecords: [{ ...record, Recipients: listed }] }
}

function rowsOf(recipients: NaiveRecipients, features: readonly SelectFeature[]): number[] {
  const found = features.map((feature) =>
    isCircle(feature)
      ? rowsInCircle(recipients, feature.geometry.coordinates, feature.properties.radius)
      : rowsInArea(recipients, feature.geometry),
  )
  return found.length === 1 ? found[0] : [...new Set(found.flat())]
}

function rowsInCircle(
  { index, lngs, lats }: NaiveRecipients,
  [lng, lat]: readonly number[],
  metres: number,
): number[] {
  const box = circleBox(lng, lat, metres)
  return index
    .range(...box)
    .filter((row) => haversineMetres(lng, lat, lngs[row], lats[row]) <= metres)
}

type Area = Exclude<SelectFeature['geometry'], { type: 'Point' }>

/** Polygons of one area do not overlap. */
function rowsInArea({ index, lngs, lats }: NaiveRecipients, area: Area): number[] {
  const polygons = area.type === 'Polygon' ? [area.coordinates] : area.coordinates
  return polygons.map(toNaivePolygon).flatMap(({ rings, minLng, minLat, maxLng, maxLat }) => {
    const isInside = (row: number) => pointInPolygon([lngs[row], lats[row]], rings) !== false
    return index.range(minLng, minLat, maxLng, maxLat).filter(isInside)
  })
}
