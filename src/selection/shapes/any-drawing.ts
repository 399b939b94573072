/**
 * The two ways to read a drawing, with the same answers: short-drawing.ts where its positions lie in
 * a skeleton, and shapes.ts for all others and for whatever the short way does not read.
 *
 * @module
 */
import type { NamedAreas } from '../named-areas.js'
import type { Remarks } from '../remarks.js'
import { SentDrawing } from '../skeleton/sent-drawing.js'
import type { Drawing } from './drawing.js'
import { readDrawing } from './shapes.js'
import { readShortDrawing } from './short-drawing.js'

/** @throws ServiceError  that names the feature, or the position, at fault */
export function readAnyDrawing(
  value: unknown,
  path: string,
  remarks: Remarks,
  areas?: NamedAreas,
): Drawing {
  if (!(value instanceof SentDrawing)) return readDrawing(value, path, remarks, areas)
  return value.readShort(path, readShortDrawing) ?? readDrawing(value.whole(), path, remarks, areas)
}
