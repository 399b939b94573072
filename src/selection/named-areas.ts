/**
 * Areas that requests name, as selections need them. The gazetteer has them (src/gazetteer).
 *
 * @module
 */
import type { Polygons } from '../geometry/polygon/polygons.js'

/** The areas of one version of the gazetteer. */
export interface NamedAreas {
  /** Another one after each import: what is known of an area holds for this version alone. */
  readonly version: string
  /**
   * Finds an area by `layer:key`, or by an alias of the same form such as `SAME:048201`. Layers and aliases
   * are read in any letter case, keys as they are.
   */
  find(name: string): NamedArea | undefined
  /** Names that are nearly this one, to tell a client of. */
  nearest(name: string): readonly string[]
}

export interface NamedArea {
  /** `layer:key`, the same whatever name it was found by. */
  readonly id: string
  /** Who is in any of them is in the area. Nobody changes them. */
  readonly polygons: Polygons
}
