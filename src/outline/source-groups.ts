/**
 * Which sources have the same area.
 *
 * @module
 */
import { holdsFor, type Layer } from '../geometry/shapes.js'
import type { Query } from '../selection/validate.js'
import type { LayerChoice } from './task.js'

export interface SourceGroup extends LayerChoice {
  /** Ascending. */
  readonly sourceIds: readonly number[]
}

/**
 * The sources that are answered for, together where the same layers hold for them.
 *
 * @param allSourceIds  those of the snapshot, ascending
 */
export function groupSources(query: Query, allSourceIds: readonly number[]): SourceGroup[] {
  const groups = new Map<string, LayerChoice & { readonly sourceIds: number[] }>()
  for (const sourceId of allSourceIds) {
    if (!holdsFor(query, sourceId)) continue
    const included = layersFor(query.shapes.included, sourceId)
    const excluded = layersFor(query.shapes.excluded, sourceId)
    const key = `${included} ${excluded}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { included, excluded, sourceIds: [sourceId] })
    else group.sourceIds.push(sourceId)
  }
  return [...groups.values()]
}

function layersFor(layers: readonly Layer[], sourceId: number): number[] {
  return layers.flatMap((layer, index) => (holdsFor(layer, sourceId) ? [index] : []))
}
