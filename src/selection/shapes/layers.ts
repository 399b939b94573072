/**
 * Collects geometries into layers. A layer has all geometries that apply to the same sources.
 *
 * @module
 */
import { lngOnGlobe, type UnitRing, unwrapLine } from '../../geometry/polygon/antimeridian.js'
import { boundaryOf, type Edges } from '../../geometry/polygon/boundary.js'
import { type DrawnPolygon, drawnPolygons } from '../../geometry/polygon/drawn-polygons.js'
import { PolygonList } from '../../geometry/polygon/polygon-list.js'
import type { SentPath } from '../../geometry/polygon/sent-path.js'
import { type ReachFault, ReachList } from '../../geometry/reach/reach-list.js'
import { NO_REACHES } from '../../geometry/reach/reaches.js'
import { type RingBudget, ringBudget } from '../../geometry/ring-budget.js'
import type { Layer, Nearest, Shapes, SourceFilter } from '../../geometry/shapes.js'
import { limits } from '../../limits.js'
import type { NamedArea } from '../named-areas.js'
import { ExtentList } from './feature-extents.js'
import type { FeatureProperties } from './feature-properties.js'
import { fail } from './positions.js'

/** Takes the geometries of one feature, in units. */
export interface GeometrySink {
  /** Rings in continuous longitudes. */
  polygon(shell: UnitRing, holes: readonly UnitRing[]): void
  line(line: SentPath, path: string): void
  /** A place within ±180. */
  point(point: readonly [lng: number, lat: number]): void
  /** To be told of each ring before it comes in a polygon. */
  ring(hasThreePoints: boolean, path: string): void
  /** The first ring of the feature, if none has three different points. */
  degenerateRing(): string | undefined
  /** To be called before as many positions of a ring, a line or a point are read. */
  count(positionCount: number, path: string): void
  /** What it may still take to tell how rings lie to each other. */
  readonly budget: RingBudget
}

/** Of all that is collected. */
interface PositionBounds {
  readonly vertexCount: number
  readonly ringCount: number
}

export class LayerCollector {
  readonly #included = new LayerGroup()
  readonly #excluded = new LayerGroup()
  readonly #nearest: Nearest[] = []
  #positionCount = 0
  #ringCount = 0
  #arcCount = 0
  #areaVertexCount = 0
  #named: NamedArea[] | undefined = []
  readonly budget: RingBudget
  readonly #most: PositionBounds
  /** To be told of each feature before its geometry is read. */
  readonly features = new ExtentList()

  constructor(budget: RingBudget = ringBudget(), most: PositionBounds = limits) {
    this.budget = budget
    this.#most = most
  }

  /** @param path  of the feature, for what is wrong with it as a whole */
  sinkFor(properties: FeatureProperties, path: string): GeometrySink {
    this.#named = undefined
    const bounds = {
      count: (positionCount: number, at: string) => this.#count(positionCount, at),
      budget: this.budget,
      ...ringTally(),
    }
    if (properties.nearestCount !== undefined) {
      return { ...this.#nearestSink(properties, path), ...bounds }
    }
    const layer = this.#layerOf(properties)
    const { radiusMetres } = properties
    if (radiusMetres === undefined) {
      return {
        polygon: (shell, holes) => layer.polygons.add(shell, holes),
        line: (line, at) => {
          this.features.note('LineWithoutBuffer')
          layer.polygons.addLine(unwrappedLine(line, at))
        },
        point: (point) => {
          this.features.note('PointWithoutRadius')
          layer.polygons.addLine(point)
        },
        ...bounds,
      }
    }
    const reach = (add: Adding) => this.#reach(layer, add, path)
    return {
      polygon: (shell, holes) => {
        layer.polygons.add(shell, holes)
        this.#addMargin(layer, { shell, holes }, radiusMetres, path)
      },
      // Great circles from place to place: by which turns these are reached makes no difference.
      line: ({ units }) => {
        const places = units.map((value, i) => (i % 2 === 0 ? lngOnGlobe(value) : value))
        reach((reaches) => reaches.addCorridor(places, radiusMetres))
      },
      point: (point) => reach((reaches) => reaches.addCircle(point[0], point[1], radiusMetres)),
      ...bounds,
    }
  }

  /**
   * Takes a named area, as a feature with these properties.
   *
   * @param path  of its name
   */
  area(area: NamedArea, properties: FeatureProperties, path: string): void {
    const { polygons } = area
    this.#areaVertexCount += polygons.vertices.length / 2
    if (this.#areaVertexCount > limits.namedVertexCount) {
      const most = limits.namedVertexCount
      fail('TooManyVertices', `takes the request beyond ${most} positions of named areas`, path)
    }
    const { radiusMetres, nearestCount, isExcluded, sourceIds } = properties
    if (nearestCount !== undefined) refuseNearest(path)
    const isWhole = radiusMetres === undefined && !isExcluded && sourceIds === null
    if (isWhole) this.#named?.push(area)
    else this.#named = undefined
    const layer = this.#layerOf(properties)
    layer.polygons.addAll(polygons)
    if (radiusMetres === undefined) return
    for (const drawn of drawnPolygons(polygons)) this.#addMargin(layer, drawn, radiusMetres, path)
  }

  /** Adds what is within a distance of a polygon, but for the polygon. */
  #addMargin(
    layer: LayerLists,
    { shell, holes }: DrawnPolygon,
    radiusMetres: number,
    path: string,
  ): void {
    const edges = boundaryOf(shell, holes, this.budget)
    if (edges === undefined) {
      fail('TooComplex', 'has rings that run over each other too often for a margin', path)
    }
    this.#reach(layer, (reaches) => addMargin(reaches, edges, radiusMetres), path)
  }

  #reach(layer: LayerLists, add: Adding, path: string): void {
    const before = layer.reaches.arcCount
    const fault = add(layer.reaches)
    this.#arcCount += layer.reaches.arcCount - before
    if (fault === 'AntipodalVertices') {
      fail('AmbiguousLine', 'goes from one side of the Earth to the very opposite', path)
    }
    if (fault !== undefined || this.#arcCount > limits.arcCount) {
      fail('TooComplex', `takes the request beyond ${limits.arcCount} arcs`, path)
    }
  }

  /** The areas that are all that was drawn, each whole and for all sources; undefined otherwise. */
  get named(): readonly NamedArea[] | undefined {
    return this.#named?.length === 0 ? undefined : this.#named
  }

  /** What takes the polygons and lines of a feature as they are; undefined if it reaches farther. */
  polygonsFor(properties: FeatureProperties): PolygonList | undefined {
    const { radiusMetres, nearestCount } = properties
    this.#named = undefined
    if (radiusMetres !== undefined || nearestCount !== undefined) return undefined
    return this.#layerOf(properties).polygons
  }

  #layerOf({ isExcluded, sourceIds }: FeatureProperties): LayerLists {
    const layer = (isExcluded ? this.#excluded : this.#included).of(sourceIds)
    this.features.enter(layer, isExcluded)
    return layer
  }

  /** Counts several rings, lines or points at once; false when they are too many. */
  takes(positionCount: number, ringCount: number): boolean {
    this.#positionCount += positionCount
    this.#ringCount += ringCount
    const { vertexCount, ringCount: mostRings } = this.#most
    return this.#positionCount <= vertexCount && this.#ringCount <= mostRings
  }

  /** All that was drawn; to be called once, when nothing more comes. */
  shapes(): Shapes {
    this.features.end()
    return {
      included: this.#included.layers(),
      excluded: this.#excluded.layers(),
      nearest: this.#nearest,
    }
  }

  /** How many features pick the nearest. */
  get nearestCount(): number {
    return this.#nearest.length
  }

  #nearestSink({ nearestCount, sourceIds, isExcluded }: FeatureProperties, path: string) {
    const refuse = () => refuseNearest(path)
    let isUsed = false
    const point = ([lng, lat]: readonly [number, number]) => {
      if (isUsed) refuse()
      isUsed = true
      if (this.#nearest.length === limits.nearestFeatureCount) {
        const most = limits.nearestFeatureCount
        fail('TooComplex', `takes the request beyond ${most} features with nearest`, path)
      }
      this.features.isPlace()
      this.#nearest.push({ lng, lat, count: nearestCount as number, sourceIds, isExcluded })
    }
    return { polygon: refuse, line: refuse, point }
  }

  #count(positionCount: number, path: string): void {
    this.#positionCount += positionCount
    const { vertexCount, ringCount } = this.#most
    if (this.#positionCount > vertexCount) {
      fail('TooManyVertices', `takes the request beyond ${vertexCount} positions`, path)
    }
    if (++this.#ringCount > ringCount) {
      fail('TooComplex', `takes the request beyond ${ringCount} rings, lines and points`, path)
    }
  }
}

/** Adds places to be reached, and says what is wrong with them. */
type Adding = (reaches: ReachList) => ReachFault | undefined

function refuseNearest(path: string): never {
  return fail('InvalidNearest', 'picks the nearest to a Point alone', path)
}

/** Notes which rings of a feature have three different points. */
function ringTally() {
  let first: string | undefined
  let isAnyRing = false
  return {
    ring(hasThreePoints: boolean, path: string): void {
      if (hasThreePoints) isAnyRing = true
      else first ??= path
    },
    degenerateRing: () => (isAnyRing ? undefined : first),
  }
}

function unwrappedLine(line: SentPath, path: string): UnitRing {
  const unwrapped = unwrapLine(line)
  if (unwrapped !== 'TooWide') return unwrapped
  return fail('AmbiguousLine', 'is more than three turns round the globe wide', path)
}

class LayerLists {
  readonly sourceIds: SourceFilter
  /** Among those of its group. */
  readonly index: number
  readonly polygons = new PolygonList()
  #reaches: ReachList | undefined

  constructor(sourceIds: SourceFilter, index: number) {
    this.sourceIds = sourceIds
    this.index = index
  }

  get polygonCount(): number {
    return this.polygons.polygonCount
  }

  get arcCount(): number {
    return this.#reaches?.arcCount ?? 0
  }

  get reaches(): ReachList {
    this.#reaches ??= new ReachList()
    return this.#reaches
  }

  layer(): Layer {
    return {
      sourceIds: this.sourceIds,
      polygons: this.polygons.polygons(),
      reaches: this.#reaches?.reaches() ?? NO_REACHES,
    }
  }
}

/** The layers of all sources, and of some. Most requests have none, or one for every source. */
class LayerGroup {
  #first: LayerLists | undefined
  /** By their sources, as text; once there are several. */
  #others: Map<string, LayerLists> | undefined

  of(sourceIds: SourceFilter): LayerLists {
    const first = this.#first
    if (first === undefined) {
      this.#first = new LayerLists(sourceIds, 0)
      return this.#first
    }
    const key = keyOf(sourceIds)
    if (first.sourceIds === sourceIds || keyOf(first.sourceIds) === key) return first
    this.#others ??= new Map()
    const known = this.#others.get(key)
    if (known !== undefined) return known
    const layer = new LayerLists(sourceIds, this.#others.size + 1)
    this.#others.set(key, layer)
    return layer
  }

  /** Those without a geometry are left in: a feature that selects nobody still holds for its sources. */
  layers(): Layer[] {
    if (this.#first === undefined) return []
    const list = [this.#first.layer()]
    if (this.#others !== undefined)
      for (const lists of this.#others.values()) list.push(lists.layer())
    return list
  }
}

function keyOf(sourceIds: SourceFilter): string {
  return sourceIds === null ? '' : `[${sourceIds}]`
}

/** Adds what is within a distance of edges that are straight in longitude and latitude. */
function addMargin(reaches: ReachList, edges: Edges, radiusMetres: number): ReachFault | undefined {
  for (let i = 0; i < edges.length; i += 4) {
    const [lng1, lat1, lng2, lat2] = edges.slice(i, i + 4)
    const fault = reaches.addStraight(lng1, lat1, lng2, lat2, radiusMetres)
    if (fault !== undefined) return fault
  }
  return undefined
}
