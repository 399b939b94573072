/**
 * Pieces of one track as a geometry. Receivers write pieces of one position, and empty ones, where they
 * lost the satellites: a position alone is a point, and an empty piece is nothing.
 *
 * @module
 */
import type { DrawnGeometry, Position } from './drawn.js'

/** @returns null if there is no position at all */
export function geometryOfPieces(pieces: readonly (readonly Position[])[]): DrawnGeometry | null {
  const lines = pieces.filter((piece) => piece.length > 1)
  const points = pieces.filter((piece) => piece.length === 1).map(([position]) => position)
  if (points.length === 0) return lines.length === 0 ? null : geometryOfLines(lines)
  const geometries = [...lines.map(geometryOfLine), ...points.map(geometryOfPoint)]
  return geometries.length === 1 ? geometries[0] : { type: 'GeometryCollection', geometries }
}

function geometryOfLines(lines: readonly (readonly Position[])[]): DrawnGeometry {
  if (lines.length === 1) return geometryOfLine(lines[0])
  return { type: 'MultiLineString', coordinates: lines }
}

function geometryOfLine(coordinates: readonly Position[]): DrawnGeometry {
  return { type: 'LineString', coordinates }
}

function geometryOfPoint(coordinates: Position): DrawnGeometry {
  return { type: 'Point', coordinates }
}
