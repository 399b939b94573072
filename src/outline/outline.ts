/**
 * One outline request, from its members to its answer: what a recipient request selects, as an area. The shapes are
 * united on another thread (run-task.ts).
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { csvRecord, csvTable } from '../format/csv.js'
import { featureCollection } from '../format/geojson.js'
import { warningHeaders } from '../format/warning-headers.js'
import { withShortEdges } from '../geometry/polygon/short-edges.js'
import { doubleArea } from '../geometry/polygon/simple-loops.js'
import { holdsFor, type Layer } from '../geometry/shapes.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import { operations } from '../interface/operations.js'
import {
  type DrawnArea,
  type Outline,
  type OutlineResponse,
  OutlineResponseSchema,
  type PlainArea,
} from '../interface/outline.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import type { Warning } from '../interface/warnings.js'
import { limits } from '../limits.js'
import type { Caller, ClipRunner } from '../pool/tasks.js'
import type { Asker } from '../selection/access.js'
import type { BoundaryRule } from '../selection/boundary.js'
import type { Catalogue } from '../selection/catalogue.js'
import type { NamedAreas } from '../selection/named-areas.js'
import type { JsonObject } from '../selection/parse.js'
import { remarkOnExtents } from '../selection/places.js'
import { refuseUnknownSources } from '../selection/source-ids.js'
import { type Query, validate } from '../selection/validate.js'
import type { Polygon, Region, Ring } from './clipper.js'
import { toleranceOf } from './draw.js'
import type { Drawing, LayerChoice, OutlineOutcome, OutlineTask, Problem } from './run-task.js'

export interface OutlineService {
  readonly catalogue: Pick<Catalogue, 'sources' | 'shards'>
  readonly runner: ClipRunner
  /** Which boundary holds for a request. */
  readonly boundaryRule: BoundaryRule
  /** The areas that requests may name. */
  readonly areas?: (() => NamedAreas | undefined) | undefined
  /** Whether members that are not known are refused, which is the default, or ignored with a warning. */
  readonly unknownMembers?: UnknownMembers | undefined
}

/** @throws ServiceError */
export async function outline(
  service: OutlineService,
  request: JsonObject,
  caller: Asker,
): Promise<Answer> {
  const query = validate(request, service.unknownMembers, undefined, service.areas?.())
  const { included, excluded, nearest } = query.shapes
  if (nearest.length > 0) {
    throw new ServiceError(
      'InvalidNearest',
      'nearest picks people, not a place, and has no outline',
      'geoJSON',
    )
  }
  refuseUnknownSources(query.sourceReferences, service.catalogue)
  const boundary = service.boundaryRule.for(query.clipToBoundary, caller.access)
  remarkOnExtents(query, service.catalogue, boundary)
  const boundaries = boundary?.areas ?? []
  const groups = groupSources(
    query,
    service.catalogue.sources.map(({ id }) => id),
  )
  const task = { included, excluded, boundaries, choices: groups, problem: undefined }
  const drawn = await uniteOrDraw(service.runner, task, caller)
  const layers = [...included, ...excluded, ...boundaries.flat()]
  const toleranceMetres = Number(toleranceOf(layers).toFixed(3))
  return outlineAnswer(groups, drawn, toleranceMetres, query.remarks.warnings)
}

/**
 * The outlines of several areas, each united by itself.
 *
 * @param areas  the layers of each
 * @returns one for each area; undefined if they cannot be united, or take too long or too much memory
 * @throws ServiceError  Overloaded or Unavailable
 */
export async function outlinesOf(
  areas: readonly (readonly Layer[])[],
  runner: ClipRunner,
  caller: Caller,
): Promise<readonly PlainArea[] | undefined> {
  const included = areas.flat()
  let end = 0
  const choices = areas.map((layers) => {
    const start = end
    end += layers.length
    return { included: Array.from(layers, (_, at) => start + at), excluded: [] }
  })
  const task = { included, excluded: [], boundaries: [], choices, problem: undefined }
  const outcome = await runner.run(task satisfies OutlineTask, caller)
  if (!('value' in outcome)) return undefined
  const drawn = outcome.value as OutlineOutcome
  return drawn.kind === 'dissolved' ? drawn.regions.map(toArea) : undefined
}

/** The same area as GeoJSON and as Esri JSON, in degrees; polygons must not overlap. */
export function toArea(region: Region): PlainArea {
  // Winding is opposite: counterclockwise is outside in RFC 7946, 3.1.6, and inside for Esri.
  return {
    GeoJson: {
      type: 'MultiPolygon',
      coordinates: region.map((rings) => rings.map((ring, i) => toPositions(ring, i === 0))),
    },
    Rings: {
      type: 'polygon',
      rings: region.flatMap((rings) => rings.map((ring, i) => toPositions(ring, i !== 0))),
      spatialReference: { wkid: 4326, latestWkid: 4326 },
    },
  }
}

/**
 * To be set where the clip thread starts: polygon-clipping reads its guards against endless loops from the environment
 * when it is loaded, and has no other way to be told.
 */
export const CLIPPING_ENVIRONMENT: Readonly<Record<string, string>> = {
  POLYGON_CLIPPING_MAX_QUEUE_SIZE: String(limits.clipEventCount),
  POLYGON_CLIPPING_MAX_SWEEPLINE_SEGMENTS: String(limits.clipEventCount),
}

/** Sources for which the same layers hold, and so have the same area. */
interface SourceGroup extends LayerChoice {
  /** Ascending. */
  readonly sourceIds: readonly number[]
}

/** @param allSourceIds  those of the snapshot, ascending */
function groupSources(query: Query, allSourceIds: readonly number[]): SourceGroup[] {
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

type Drawn = Exclude<OutlineOutcome, { kind: 'tooComplex' }>

/** Unites the shapes, and lists them as they are if that takes too long or too much memory. */
async function uniteOrDraw(runner: ClipRunner, task: OutlineTask, caller: Caller): Promise<Drawn> {
  const outcome = await runner.run(task, caller, (failure): OutlineTask => {
    const problem: Problem = failure === 'Failed' ? 'ClippingFailed' : failure
    return { ...task, problem }
  })
  if (!('value' in outcome)) {
    throw tooComplex('cost more work to draw than one outline may take')
  }
  const drawn = outcome.value as OutlineOutcome
  // An answer that lists shapes as they are has room for one boundary.
  if (drawn.kind === 'drawn' && task.boundaries.length > 1) {
    throw tooComplex('cannot be united within the boundaries of service and key')
  }
  if (drawn.kind !== 'tooComplex') return drawn
  throw tooComplex(`have an outline of more than ${limits.outlineVertexCount} vertices`)
}

function tooComplex(problem: string): ServiceError {
  const message = `the shapes of this request ${problem}; simplify them, or ask in parts`
  return new ServiceError('TooComplex', message, 'geoJSON')
}

/** @param groups  one for each choice of the task */
function outlineAnswer(
  groups: readonly SourceGroup[],
  drawn: Drawn,
  toleranceMetres: number,
  warnings: readonly Warning[] | undefined,
): Answer {
  const response = {
    ...toResponse(groups, drawn, toleranceMetres),
    ...(warnings !== undefined && { Warnings: [...warnings] }),
  }
  const { Outlines: outlines = [], ...about } = response
  return {
    // It depends on the sources of the snapshot and on the configuration.
    headers: { 'Cache-Control': 'no-store', ...warningHeaders(warnings) },
    warnings,
    heldBytes: heldBytesOf(drawn),
    json: () => JSON.stringify(response),
    geoJson: () => collectionOf(response),
    csv: () =>
      csvTable(
        ROW_COLUMNS,
        outlines.map((each) => ({ ...each, ...about })),
      ),
    csvRecord: () => csvRecord(RESPONSE_COLUMNS, response),
  }
}

/** Warnings have a header. */
const RESPONSE_COLUMNS = Object.keys(OutlineResponseSchema.properties).filter(
  (name) => name !== 'Warnings',
)

/** A row for each outline, which repeats what holds for all of them. */
const ROW_COLUMNS = operations.OutlineRequest.csvColumns

function toResponse(
  groups: readonly SourceGroup[],
  drawn: Drawn,
  toleranceMetres: number,
): OutlineResponse {
  const about = {
    HasShapesWithoutArea: drawn.hasShapesWithoutArea,
    ToleranceMetres: toleranceMetres,
  }
  if (drawn.kind === 'dissolved') {
    const outlines = groups.map(({ sourceIds }, i) => ({
      SourceIds: [...sourceIds],
      ...toArea(drawn.regions[i]),
    }))
    return { Outlines: outlines, IsDissolved: true, ...about }
  }
  const outlines = groups.map((group) => drawnOutline(group, drawn.drawing))
  return { Outlines: outlines, IsDissolved: false, Problem: drawn.problem, ...about }
}

/** Shapes that could not be united are in no feature: none of them may be taken for the area. */
function collectionOf({ Outlines = [], ...about }: OutlineResponse): string {
  const features = Outlines.map(({ SourceIds, GeoJson = null }) => ({
    geometry: GeoJson,
    properties: { SourceIds },
  }))
  return featureCollection(about, features)
}

/** Neither `GeoJson` nor `Rings`: nothing in it may be taken for the area that is selected. */
function drawnOutline(group: SourceGroup, { included, excluded, boundaries }: Drawing): Outline {
  const [boundary] = boundaries
  return {
    SourceIds: [...group.sourceIds],
    Included: group.included.flatMap((layer) => included[layer].map(toDrawnArea)),
    Excluded: group.excluded.flatMap((layer) => excluded[layer].map(toDrawnArea)),
    ...(boundary === undefined ? {} : { Boundary: boundary.map(toDrawnArea) }),
  }
}

/**
 * A polygon as it was drawn. Holes are apart, since they may overlap and reach beyond the shell,
 * and would then be shown as area.
 */
function toDrawnArea([shell, ...holes]: Polygon): DrawnArea {
  const area = toArea([[shell]])
  return holes.length === 0 ? area : { ...area, Holes: holes.map((hole) => toArea([[hole]])) }
}

/** Closed, with the winding that is asked for. */
function toPositions(ring: Ring, isCounterclockwise: boolean): number[][] {
  const positions: number[][] = []
  const units = withShortEdges(ring.map(Math.round))
  for (let i = 0; i < units.length; i += 2) {
    positions.push([degrees(units[i]), degrees(units[i + 1])])
  }
  if (doubleArea(ring) > 0 !== isCounterclockwise) positions.reverse()
  return [...positions, positions[0]]
}

/** Seven decimals at most. Adding nothing makes 0 of -0. */
function degrees(units: number): number {
  return units / UNITS_PER_DEGREE + 0
}

/** Memory of the positions, in both notations. */
function heldBytesOf(drawn: Drawn): number {
  const polygons =
    drawn.kind === 'dissolved'
      ? drawn.regions.flat()
      : [drawn.drawing.included, drawn.drawing.excluded, drawn.drawing.boundaries].flat(2)
  const numberCount = polygons.flat().reduce((sum, ring) => sum + ring.length, 0)
  return numberCount * BYTES_PER_NUMBER
}

const BYTES_PER_NUMBER = 64
