/**
 * A drawing as a set of lines, in the form of test/cap/real/read-alerts.py.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { DrawnCollection, Position } from '../../src/notations/drawn.js'

export function linesOf({ features }: DrawnCollection): string[] {
  const lines = new Set<string>()
  for (const { geometry, properties } of features) {
    if (geometry === null) {
      for (const name of [properties.area ?? []].flat()) lines.add(`G ${name}`)
    } else if (geometry.type === 'Point') {
      const centre = placeOf(geometry.coordinates as Position)
      lines.add(`C ${centre} ${bitsOf(properties.radius ?? 0)}`)
    } else if (geometry.type === 'Polygon') {
      lines.add(ringLine(geometry.coordinates))
    } else if (geometry.type === 'MultiPolygon') {
      for (const rings of geometry.coordinates) lines.add(ringLine(rings))
    }
  }
  return [...lines].sort()
}

export function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16)
}

function ringLine([ring, ...holes]: readonly (readonly Position[])[]): string {
  if (holes.length > 0) throw new Error('an alert has no holes')
  return `P ${ring.map(placeOf).join(' ')}`
}

function placeOf([lng, lat]: Position): string {
  return bitsOf(lng) + bitsOf(lat)
}

/** Of the double itself, which no other way of writing numbers could change. */
function bitsOf(value: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value + 0)
  return bytes.toString('hex')
}
