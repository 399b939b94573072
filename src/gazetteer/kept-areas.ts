/**
 * Areas that were read lately, so that one that is asked for again need not be read again.
 *
 * @module
 */
import type { StoredArea } from './area-record.js'

export class KeptAreas {
  readonly #mostBytes: number
  /** The one that was not used for the longest time is the first. */
  readonly #areas = new Map<string, StoredArea>()
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  get(name: string): StoredArea | undefined {
    const area = this.#areas.get(name)
    if (area === undefined) return undefined
    this.#areas.delete(name)
    this.#areas.set(name, area)
    return area
  }

  add(name: string, area: StoredArea): void {
    this.#areas.set(name, area)
    this.#bytes += bytesOf(area)
    for (const [oldName, old] of this.#areas) {
      if (this.#bytes <= this.#mostBytes) return
      this.#areas.delete(oldName)
      this.#bytes -= bytesOf(old)
    }
  }

  get bytes(): number {
    return this.#bytes
  }
}

function bytesOf({ polygons }: StoredArea): number {
  const { vertices, ringStarts, polygonStarts, bounds } = polygons
  return (
    vertices.byteLength +
    ringStarts.byteLength +
    polygonStarts.byteLength +
    bounds.byteLength +
    OBJECT_BYTES
  )
}

/** What an area takes beside its numbers. */
const OBJECT_BYTES = 1_024
