/**
 * The parts of a layer, one for each kind of primitive that can be searched for, and what every
 * stage asks of them.
 *
 * A stage that treats each part in its own way has a `Record<LayerPart, …>` of its own, which does
 * not compile without an entry for each: `shard/area.ts` finds recipients, `pool/codec.ts`
 * sends parts to query workers, `outline/draw.ts` draws them. The entries take a whole layer, since
 * a loop over functions costs much less than one over names of members.
 *
 * @module
 */
import { type Bounds, meets } from './bounds.js'
import { type Polygons, toPolygons } from './polygon/polygons.js'
import { reachMeets } from './reach/reach-bounds.js'
import { NO_REACHES, type Reaches } from './reach/reaches.js'

export interface LayerParts {
  readonly polygons: Polygons
  readonly reaches: Reaches
}

export type LayerPart = keyof LayerParts

/** A layer of these parts covers nothing. */
export const NO_PARTS: LayerParts = {
  polygons: toPolygons([], [0], [0]),
  reaches: NO_REACHES,
}

/** The questions of all stages about a part of a layer. */
interface PartKind {
  /** How many vertices or arcs it has: what a search costs grows with it. Zero covers nothing. */
  size(layer: LayerParts): number
  /** False only if the part covers nothing in the region. */
  meets(layer: LayerParts, region: Readonly<Bounds>): boolean
  /** All that the part follows from. Cursors depend on their order. */
  arrays(layer: LayerParts): readonly (Float64Array | Uint32Array)[]
}

const partKinds = Object.values<PartKind>({
  polygons: {
    size: ({ polygons }) => polygons.vertices.length / 2,
    meets: ({ polygons }, region) => polygonsMeet(polygons, region),
    arrays: ({ polygons }) => [polygons.vertices, polygons.ringStarts, polygons.polygonStarts],
  },
  reaches: {
    size: ({ reaches }) => reaches.radiiMetres.length,
    meets: ({ reaches }, region) => reaches.radiiMetres.length > 0 && reachMeets(reaches, region),
    arrays: ({ reaches }) => [reaches.arcs, reaches.radiiMetres],
  },
} satisfies Record<LayerPart, PartKind>)

/** Vertices and arcs of all parts. */
export function layerSize(layer: LayerParts): number {
  let size = 0
  for (const kind of partKinds) size += kind.size(layer)
  return size
}

/** False only if no part covers anything in the region. */
export function layerMeets(layer: LayerParts, region: Readonly<Bounds>): boolean {
  for (const kind of partKinds) if (kind.meets(layer, region)) return true
  return false
}

/** All that a layer follows from, but for its sources. */
export function layerArrays(layer: LayerParts): (Float64Array | Uint32Array)[] {
  const arrays: (Float64Array | Uint32Array)[] = []
  for (const kind of partKinds) arrays.push(...kind.arrays(layer))
  return arrays
}

function polygonsMeet({ bounds }: Polygons, region: Readonly<Bounds>): boolean {
  for (let at = 0; at < bounds.length; at += 4) if (meets(region, bounds, at)) return true
  return false
}
