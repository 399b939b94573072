/**
 * An area as it is found, without its polygons.
 *
 * @module
 */
import type { AreaText } from './area-record.js'

export interface FoundArea {
  /** `layer:key`. */
  readonly id: string
  readonly layer: string
  readonly key: string
  readonly name: string
  readonly aliases: readonly string[]
}

export function found({ id, name, aliases }: AreaText): FoundArea {
  const colon = id.indexOf(':')
  return { id, layer: id.slice(0, colon), key: id.slice(colon + 1), name, aliases }
}
