/**
 * One geometry whose positions lie in a skeleton. Rings that lie on the globe as they are written, as
 * nearly all do, are only looked up; others are followed as on the long way.
 *
 * @module
 */
import { nestRings } from '../../geometry/esri/esri-rings.js'
import { areApart } from '../../geometry/esri/ring-relations.js'
import { latOfMetres, lngOfMetres } from '../../geometry/esri/web-mercator.js'
import { lngOnGlobe, type UnitRing, unwrapRing } from '../../geometry/polygon/antimeridian.js'
import type { PolygonList } from '../../geometry/polygon/polygon-list.js'
import { isSpanDoubtful, type SentPath } from '../../geometry/polygon/sent-path.js'
import * as at from '../skeleton/layout.js'
import type { Skeleton } from '../skeleton/skeleton.js'
import type { FeatureProperties } from './feature-properties.js'
import type { GeometrySink, LayerCollector } from './layers.js'
import type { SpatialReference } from './spatial-reference.js'

/** The Esri members whose arrays are taken out. */
type EsriMember = 'rings' | 'paths' | 'points'

/** Reads the geometries of one feature after the other. Each step returns whether it could be read. */
export class ShortGeometry {
  readonly #skeleton: Skeleton
  readonly #layers: LayerCollector
  #properties: FeatureProperties | undefined
  /** What takes polygons and lines that are as they are written. */
  #polygons: PolygonList | undefined
  #sink: GeometrySink | undefined
  /** Whether there are rings of three different points, and whether there are others. */
  #isAnyRing = false
  #isAnyDegenerate = false
  /** The rings and polygons of an array, as ranges. */
  #ring = 0
  #ringEnd = 0
  #polygon = 0
  #polygonEnd = 0

  constructor(skeleton: Skeleton, layers: LayerCollector) {
    this.#skeleton = skeleton
    this.#layers = layers
  }

  /** The geometries that follow are of a feature with these properties. */
  begin(properties: FeatureProperties): void {
    this.#properties = properties
    this.#polygons = this.#layers.polygonsFor(properties)
    this.#sink = undefined
    this.#isAnyRing = false
    this.#isAnyDegenerate = false
  }

  /** What takes all else of the feature. */
  get sink(): GeometrySink {
    this.#sink ??= this.#layers.sinkFor(this.#properties as FeatureProperties, '')
    return this.#sink
  }

  /** To be asked when all geometries of a feature are read: one of its rings must have an area. */
  isWhole(): boolean {
    if (this.#isAnyRing) return true
    return !this.#isAnyDegenerate && this.#sink?.degenerateRing() === undefined
  }

  /** @param value  what `coordinates` is of a geometry of GeoJSON */
  readCoordinates(type: unknown, value: unknown): boolean {
    switch (type) {
      case 'Polygon':
        return this.#find(value, at.COORDINATES, 3) && this.#addPolygons()
      case 'MultiPolygon':
        return this.#find(value, at.COORDINATES, 4) && this.#addPolygons()
      case 'LineString':
        return this.#find(value, at.COORDINATES, 2) && this.#addLines()
      case 'MultiLineString':
        return this.#find(value, at.COORDINATES, 3) && this.#addLines()
      case 'Point':
        return this.#find(value, at.COORDINATES, 1) && this.#addPoints()
      case 'MultiPoint':
        return this.#find(value, at.COORDINATES, 2) && this.#addPoints()
      default:
        return false
    }
  }

  readEsri(
    member: EsriMember,
    type: unknown,
    value: unknown,
    reference: SpatialReference,
  ): boolean {
    const { name, depth, kind } = ESRI[member]
    const isKind = typeof type === 'string' && type.toLowerCase() === kind
    if (!isKind && type !== undefined && type !== null) return false
    if (!this.#find(value, name, depth) || !this.#bringToUnits(reference)) return false
    if (member === 'rings') return this.#addEsriRings()
    return member === 'paths' ? this.#addLines() : this.#addPoints()
  }

  #find(value: unknown, name: number, depth: number): boolean {
    const { arrays, arrayCount } = this.#skeleton
    if (typeof value !== 'number' || !(value >= 0 && value < arrayCount)) return false
    const array = at.ARRAY_WORDS * value
    if (arrays[array + at.ARRAY_NAME] !== name) return false
    if (arrays[array + at.ARRAY_DEPTH] !== depth) return false
    this.#ring = arrays[array + at.ARRAY_RING]
    this.#ringEnd = arrays[array + at.ARRAY_WORDS + at.ARRAY_RING]
    this.#polygon = arrays[array + at.ARRAY_POLYGON]
    this.#polygonEnd = arrays[array + at.ARRAY_WORDS + at.ARRAY_POLYGON]
    return true
  }

  get #positionCount(): number {
    const { ringStarts } = this.#skeleton
    return ringStarts[this.#ringEnd] - ringStarts[this.#ring]
  }

  #bringToUnits(reference: SpatialReference): boolean {
    const { ringStarts, vertices } = this.#skeleton
    if (reference === 'webMercator') {
      const end = 2 * ringStarts[this.#ringEnd]
      for (let i = 2 * ringStarts[this.#ring]; i < end; i += 2) {
        if (!Number.isFinite(vertices[i + 1])) return false
        vertices[i] = lngOfMetres(vertices[i])
        vertices[i + 1] = latOfMetres(vertices[i + 1])
      }
    }
    for (let ring = this.#ring; ring < this.#ringEnd; ring++) {
      if (!this.#skeleton.toUnits(ring)) return false
    }
    return true
  }

  #addPolygons(): boolean {
    if (!this.#layers.takes(this.#positionCount, this.#ringEnd - this.#ring)) return false
    let ring = this.#ring
    for (let polygon = this.#polygon; polygon < this.#polygonEnd; polygon++) {
      const end = this.#skeleton.polygonEnds[polygon]
      if (!this.#addPolygon(ring, end)) return false
      ring = end
    }
    return true
  }

  /** @param shell  the first of the rings [shell, end) */
  #addPolygon(shell: number, end: number): boolean {
    const polygons = this.#polygons
    if (polygons === undefined || !this.#areNarrow(shell, end)) {
      const rings = this.#unwrapped(shell, end)
      if (rings === undefined) return false
      const open = rings.filter((_, i) => this.#tell(shell + i))
      this.sink.polygon(rings[0], open[0] === rings[0] ? open.slice(1) : open)
      return true
    }
    const { ringBounds } = this.#skeleton
    this.#tell(shell)
    this.#addRing(polygons, shell)
    for (let hole = shell + 1; hole < end; hole++) {
      const isApart =
        ringBounds[4 * hole] > ringBounds[4 * shell + 2] ||
        ringBounds[4 * hole + 2] < ringBounds[4 * shell]
      // A hole that is all boundary removes nobody.
      if (this.#tell(hole) && !isApart) this.#addRing(polygons, hole)
    }
    polygons.endPolygon()
    return true
  }

  /** Notes whether a ring has three different points, and returns it. */
  #tell(ring: number): boolean {
    const hasThree = (this.#skeleton.ringBits[ring] & at.HAS_THREE) !== 0
    if (hasThree) this.#isAnyRing = true
    else this.#isAnyDegenerate = true
    return hasThree
  }

  /** Whether all the rings [start, end) are on the globe as they are written. */
  #areNarrow(start: number, end: number): boolean {
    const { ringBits } = this.#skeleton
    for (let ring = start; ring < end; ring++) {
      if ((ringBits[ring] & at.IS_NARROW) === 0) return false
    }
    return true
  }

  #addRing(polygons: PolygonList, ring: number): void {
    const { vertices, ringStarts, ringBits } = this.#skeleton
    const closing = ringBits[ring] & at.IS_CLOSED
    polygons.addRing(vertices, ringStarts[ring], ringStarts[ring + 1] - closing)
  }

  #addLines(): boolean {
    const { vertices, ringStarts, ringBits } = this.#skeleton
    if (!this.#layers.takes(2 * this.#positionCount, this.#ringEnd - this.#ring)) return false
    for (let ring = this.#ring; ring < this.#ringEnd; ring++) {
      const start = ringStarts[ring]
      const end = ringStarts[ring + 1]
      if (end - start < 2) return false
      if (this.#polygons !== undefined && (ringBits[ring] & at.IS_NARROW) !== 0) {
        this.#layers.features.note('LineWithoutBuffer')
        this.#polygons.addLineOf(vertices, start, end)
        continue
      }
      const line = this.#pathOf(ring, false)
      if (line === undefined) return false
      this.sink.line(line, '')
    }
    return true
  }

  #addPoints(): boolean {
    const { vertices, ringStarts } = this.#skeleton
    const count = this.#positionCount
    if (!this.#layers.takes(count, count)) return false
    const start = 2 * ringStarts[this.#ring]
    for (let i = start; i < start + 2 * count; i += 2) {
      this.sink.point([lngOnGlobe(vertices[i]), vertices[i + 1]])
    }
    return true
  }

  #addEsriRings(): boolean {
    const [start, end] = [this.#ring, this.#ringEnd]
    if (!this.#layers.takes(this.#positionCount, end - start)) return false
    const polygons = this.#polygons
    if (polygons !== undefined && this.#areNarrow(start, end)) {
      const open = this.#addDegenerate(polygons, start, end)
      if (areApart(this.#skeleton.ringBounds, open, this.#layers.budget)) {
        for (const ring of open) this.#addShell(polygons, ring)
        return true
      }
      return this.#nest(open.map((ring) => (this.#pathOf(ring, true) as SentPath).units))
    }
    const rings = this.#unwrapped(start, end)
    if (rings === undefined) return false
    const isOpen = rings.map((_, i) => this.#tell(start + i))
    rings.forEach((ring, i) => {
      if (!isOpen[i]) this.sink.polygon(ring, [])
    })
    return this.#nest(rings.filter((_, i) => isOpen[i]))
  }

  /** Adds the rings that are all boundary, and returns the others. */
  #addDegenerate(polygons: PolygonList, start: number, end: number): number[] {
    const open: number[] = []
    for (let ring = start; ring < end; ring++) {
      if (this.#tell(ring)) open.push(ring)
      else this.#addShell(polygons, ring)
    }
    return open
  }

  #addShell(polygons: PolygonList, ring: number): void {
    this.#addRing(polygons, ring)
    polygons.endPolygon()
  }

  #nest(rings: readonly UnitRing[]): boolean {
    const polygons = nestRings(rings, this.#layers.budget)
    if (typeof polygons === 'string') return false
    const isPlaced = new Set<UnitRing>()
    for (const { shell, holes } of polygons) {
      for (const hole of holes) {
        // A hole of several shells that cross is sent with each of them.
        if (isPlaced.has(hole) && !this.#layers.takes(hole.length / 2, 1)) return false
        isPlaced.add(hole)
      }
      this.sink.polygon(shell, holes)
    }
    return true
  }

  /** The rings [start, end) in continuous longitudes. */
  #unwrapped(start: number, end: number): UnitRing[] | undefined {
    const rings: UnitRing[] = []
    for (let ring = start; ring < end; ring++) {
      const path = this.#pathOf(ring, true)
      if (path === undefined) return undefined
      const unwrapped = unwrapRing(path)
      if (typeof unwrapped === 'string') return undefined
      rings.push(unwrapped)
    }
    return rings
  }

  /** None if units do not tell which way an edge runs. */
  #pathOf(ring: number, isClosed: boolean): SentPath | undefined {
    const { vertices, ringStarts, ringBits } = this.#skeleton
    const closing = isClosed ? ringBits[ring] & at.IS_CLOSED : 0
    const units: number[] = []
    const end = 2 * (ringStarts[ring + 1] - closing)
    for (let i = 2 * ringStarts[ring]; i < end; i++) units.push(vertices[i])
    const isNarrow = (ringBits[ring] & at.IS_NARROW) !== 0
    if (!isNarrow && isSpanDoubtful(units)) return undefined
    return { units, lngDegreesAt: neverAsked }
  }
}

const ESRI = {
  rings: { name: at.RINGS, depth: 3, kind: 'polygon' },
  paths: { name: at.PATHS, depth: 3, kind: 'polyline' },
  points: { name: at.POINTS, depth: 2, kind: 'multipoint' },
} as const

function neverAsked(): never {
  throw new Error('a longitude in degrees was asked for without doubt')
}
