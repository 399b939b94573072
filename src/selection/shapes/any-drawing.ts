/**
 * The two ways to read a drawing, with the same answers: short-drawing.ts where its positions lie in
 * a skeleton, and shapes.ts for all others and for whatever the short way does not read.
 *
 * @module
 */
import type { Shapes } from '../../geometry/shapes.js'
import { SentDrawing } from '../skeleton/sent-drawing.js'
import type { SourceReference } from '../source-ids.js'
import { readDrawing } from './shapes.js'
import { readShortDrawing } from './short-drawing.js'

/** @throws ServiceError  that names the feature, or the position, at fault */
export function readAnyDrawing(
  value: unknown,
  path: string,
): { shapes: Shapes; sourceReferences: readonly SourceReference[] } {
  if (!(value instanceof SentDrawing)) return readDrawing(value, path)
  return value.readShort(path, readShortDrawing) ?? readDrawing(value.whole(), path)
}
