/**
 * What the members of a request draw, in all notations: the union of it.
 *
 * @module
 */
import type { NamedAreas } from '../named-areas.js'
import type { Remarks } from '../remarks.js'
import { type GivenMembers, single } from '../request-members.js'
import { SentDrawing } from '../skeleton/sent-drawing.js'
import { readAnyDrawing } from './any-drawing.js'
import { readCap } from './cap.js'
import type { Drawing } from './drawing.js'
import { NOTATION_MEMBERS, readNotation } from './notations.js'
import { ShapeReader } from './shapes.js'

/** @throws ServiceError  that names the member, the feature or the position at fault */
export function readDrawings(
  given: GivenMembers,
  remarks: Remarks,
  areas: NamedAreas | undefined,
): Drawing {
  const geoJson = single(given.geoJSON)
  // As nearly all requests: the others cost them nothing.
  if (!given.drawsOtherwise) return readAnyDrawing(geoJson, 'geoJSON', remarks, areas)
  const names = single(given.areas)
  const alert = readCap(given, remarks)
  const others = NOTATION_MEMBERS.flatMap((name) => {
    const value = single(given[name])
    return value === undefined || value === null ? [] : [{ name, value }]
  })
  const reader = new ShapeReader(remarks, areas)
  reader.read(geoJson instanceof SentDrawing ? geoJson.whole() : geoJson, 'geoJSON')
  reader.readAreas(names, 'areas')
  if (alert !== undefined) reader.readDrawn(alert)
  for (const { name, value } of others) {
    reader.read(readNotation(name, value), name)
  }
  return reader.drawing()
}
