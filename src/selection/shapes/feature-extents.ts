/**
 * Which polygons and arcs of the layers of a request each of its features became. The layers do not tell,
 * and need not, but whoever drew a feature far from everybody is to learn which one it is.
 *
 * @module
 */
import { limits } from '../../limits.js'

/** One feature, or the part of it that lies in one layer. */
export interface FeatureExtent {
  /** The member of the request that draws it. */
  readonly drawing: string
  /** Of the feature in its collection; -1 for a drawing that is one feature or geometry. */
  readonly feature: number
  readonly isExcluded: boolean
  /** Index of the layer among those that are included, or excluded. */
  readonly layer: number
  /** Polygons [start, end) of the layer. */
  readonly polygonStart: number
  readonly polygonEnd: number
  /** Arcs [start, end) of the layer. */
  readonly arcStart: number
  readonly arcEnd: number
}

/** Something about a feature that may be a mistake. */
export interface FeatureNote {
  readonly drawing: string
  readonly feature: number
  readonly code: 'NoGeometry' | 'PointWithoutRadius' | 'LineWithoutBuffer'
}

/** In the order in which they were drawn. */
export type FeatureExtents = readonly FeatureExtent[]

/** A layer while it is collected. */
interface GrowingLayer {
  readonly index: number
  readonly polygonCount: number
  readonly arcCount: number
}

/** Follows the features as they are collected. */
export class ExtentList {
  readonly extents: FeatureExtent[] = []
  /** What is remarkable about features; undefined while nothing is. */
  notes: FeatureNote[] | undefined
  #drawing = ''
  #feature = -1
  #layer: GrowingLayer | undefined
  #isExcluded = false
  #polygonStart = 0
  #arcStart = 0
  #isEmpty = false

  /**
   * @param feature  its index in the collection; -1 for a drawing that is one feature or geometry
   * @param drawing  the member of the request that draws it
   */
  begin(feature: number, drawing: string): void {
    this.end()
    this.#drawing = drawing
    this.#feature = feature
    this.#isEmpty = true
  }

  /** What follows of the feature goes into this layer. */
  enter(layer: GrowingLayer, isExcluded: boolean): void {
    if (layer === this.#layer) return
    this.#layer = layer
    this.#isExcluded = isExcluded
    this.#polygonStart = layer.polygonCount
    this.#arcStart = layer.arcCount
  }

  /** The feature has a place, but goes into no layer. */
  isPlace(): void {
    this.#isEmpty = false
  }

  /** The feature is complete. */
  end(): void {
    const layer = this.#layer
    this.#layer = undefined
    if (layer !== undefined) this.#push(layer)
    if (this.#isEmpty) this.note('NoGeometry')
    this.#isEmpty = false
  }

  /** Notes it once for a feature. */
  note(code: FeatureNote['code']): void {
    this.notes ??= []
    const last = this.notes[this.notes.length - 1]
    const drawing = this.#drawing
    const isSame = last?.feature === this.#feature && last.drawing === drawing
    if (isSame && last.code === code) return
    // One more than can be told of, so that it is told that there are more.
    if (this.notes.length > limits.warningCount) return
    this.notes.push({ drawing, feature: this.#feature, code })
  }

  #push({ index, polygonCount, arcCount }: GrowingLayer): void {
    if (polygonCount === this.#polygonStart && arcCount === this.#arcStart) return
    this.#isEmpty = false
    this.extents.push({
      drawing: this.#drawing,
      feature: this.#feature,
      isExcluded: this.#isExcluded,
      layer: index,
      polygonStart: this.#polygonStart,
      polygonEnd: polygonCount,
      arcStart: this.#arcStart,
      arcEnd: arcCount,
    })
  }
}

/** Where a feature is in its request. */
export function featurePath(drawing: string, feature: number): string {
  return feature < 0 ? drawing : `${drawing}.features[${feature}]`
}
