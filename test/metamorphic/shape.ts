/**
 * Shapes as the metamorphic suite draws and transforms them, and how they are sent.
 *
 * @module
 */

export type Vertex = readonly [lng: number, lat: number]
/** A ring without its closing vertex, a line, or a list of points. */
export type Path = readonly Vertex[]

export interface Shape {
  readonly kind: 'polygons' | 'lines' | 'points'
  /** Of polygons the shell and the holes of each; lines are a part each; points are one part. */
  readonly parts: readonly (readonly Path[])[]
  /** Of a circle, a corridor or a margin. */
  readonly metres?: number
  /** Whether rings are sent with their first vertex again at the end. */
  readonly isClosed: boolean
}

export type JsonObject = { readonly [member: string]: unknown }

export function asGeoJson(shape: Shape): JsonObject {
  return asFeature(shape, geometryOf(shape))
}

/** Rings, paths or points, of which the service finds out by itself which belong together. */
export function asEsri(shape: Shape, wkid: number): JsonObject {
  const name = { polygons: 'rings', lines: 'paths', points: 'points' }[shape.kind]
  const paths = shape.parts.flat().map((path) => sentPath(shape, path))
  const geometry = {
    [name]: shape.kind === 'points' ? paths.flat() : paths,
    spatialReference: { wkid },
  }
  return asFeature(shape, geometry)
}

/** The shape with each of its paths replaced. */
export function mapPaths(shape: Shape, change: (path: Path) => Path): Shape {
  return { ...shape, parts: shape.parts.map((part) => part.map(change)) }
}

function asFeature({ metres }: Shape, geometry: JsonObject): JsonObject {
  if (metres === undefined) return geometry
  return { type: 'Feature', geometry, properties: { radius: metres } }
}

function geometryOf(shape: Shape): JsonObject {
  const parts = shape.parts.map((part) => part.map((path) => sentPath(shape, path)))
  const isOne = parts.length === 1
  switch (shape.kind) {
    case 'polygons':
      return isOne
        ? { type: 'Polygon', coordinates: parts[0] }
        : { type: 'MultiPolygon', coordinates: parts }
    case 'lines':
      return isOne
        ? { type: 'LineString', coordinates: parts[0][0] }
        : { type: 'MultiLineString', coordinates: parts.map(([line]) => line) }
    case 'points':
      return { type: 'MultiPoint', coordinates: parts.flat(2) }
  }
}

function sentPath({ kind, isClosed }: Shape, path: Path): Path {
  return kind === 'polygons' && isClosed ? [...path, path[0]] : path
}
