/**
 * The areas of one layer by their keys, and which of them meet a box.
 *
 * @module
 */
import { type Bounds, emptyBounds, extend, meets } from '../geometry/bounds.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import { isWithin, polygonsMeet } from '../geometry/polygon/polygons-meet.js'
import type { AreaIndex } from './area-index.js'
import type { StoredArea } from './area-record.js'
import { type FoundArea, found } from './found-area.js'

export class LayerAreas {
  /** What this version calls them, in the order of their keys. */
  readonly numbers: Uint32Array
  /** Around all of them, in units. They may lie beyond ±180 and ±90 degrees. */
  readonly bounds: Readonly<Bounds>
  readonly #layer: string
  readonly #index: AreaIndex
  readonly #find: (id: string) => StoredArea | undefined

  /** Looks at all areas of the gazetteer once: half a second of a thread for the most that it may have. */
  constructor(layer: string, index: AreaIndex, find: (id: string) => StoredArea | undefined) {
    this.#layer = layer
    this.#index = index
    this.#find = find
    this.numbers = index.byKey(layer)
    const bounds = emptyBounds()
    for (const number of this.numbers) {
      const [minLng, minLat, maxLng, maxLat] = index.bounds.subarray(4 * number, 4 * number + 4)
      extend(bounds, minLng, minLat)
      extend(bounds, maxLng, maxLat)
    }
    this.bounds = bounds
  }

  area(number: number): FoundArea {
    return found(this.#index.areaAt(number))
  }

  /**
   * By its id as it is written, and by no alias. Undefined where there is none.
   *
   * @throws ServiceError  AreaDamaged or Unavailable, as the gazetteer does
   */
  numberOf(id: string): number | undefined {
    if (!id.startsWith(`${this.#layer}:`)) return undefined
    const area = this.#find(id)
    return area?.id === id ? this.#index.positionOf(area) : undefined
  }

  /** @throws ServiceError  AreaDamaged or Unavailable, as the gazetteer does */
  polygons(number: number): Polygons {
    const area = this.#find(this.#index.areaAt(number).id)
    if (area === undefined) throw new Error('an area of the index is not in its table')
    return area.polygons
  }

  /**
   * Whether an area meets one of the boxes, exactly. It is read only where its bounds neither lie in a box nor
   * apart from all.
   *
   * @param boxes  in units, within ±180 and ±90 degrees
   * @throws ServiceError  AreaDamaged or Unavailable, as the gazetteer does
   */
  meets(number: number, boxes: readonly Readonly<Bounds>[]): boolean {
    const { bounds } = this.#index
    if (boxes.some((box) => isWithin(bounds, 4 * number, box))) return true
    const near = boxes.filter((box) => meets(box, bounds, 4 * number))
    if (near.length === 0) return false
    const polygons = this.polygons(number)
    return near.some((box) => polygonsMeet(polygons, box))
  }
}
