/**
 * The answer to an outline request, in each format.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import { csvRecord, csvTable } from '../format/csv.js'
import { featureCollection } from '../format/geojson.js'
import { warningHeaders } from '../format/warning-headers.js'
import { operations } from '../interface/operations.js'
import { type Outline, type OutlineResponse, OutlineResponseSchema } from '../interface/outline.js'
import type { Warning } from '../interface/warnings.js'
import { toArea, toDrawnArea } from './notations.js'
import type { SourceGroup } from './source-groups.js'
import type { Drawing, OutlineOutcome } from './task.js'

/** @param groups  one for each choice of the task that was run */
export function outlineAnswer(
  groups: readonly SourceGroup[],
  outcome: Exclude<OutlineOutcome, { kind: 'tooComplex' }>,
  toleranceMetres: number,
  warnings: readonly Warning[] | undefined,
): Answer {
  const response = {
    ...toResponse(groups, outcome, toleranceMetres),
    ...(warnings !== undefined && { Warnings: [...warnings] }),
  }
  const { Outlines: outlines = [], ...about } = response
  return {
    // It depends on the sources of the snapshot and on the configuration.
    headers: { 'Cache-Control': 'no-store', ...warningHeaders(warnings) },
    warnings,
    heldBytes: heldBytesOf(outcome),
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

/** A row an outline: what is said of all of them is repeated, since a row by itself must say it. */
const ROW_COLUMNS = operations.OutlineRequest.csvColumns

function toResponse(
  groups: readonly SourceGroup[],
  outcome: Exclude<OutlineOutcome, { kind: 'tooComplex' }>,
  toleranceMetres: number,
): OutlineResponse {
  const about = {
    HasShapesWithoutArea: outcome.hasShapesWithoutArea,
    ToleranceMetres: toleranceMetres,
  }
  if (outcome.kind === 'dissolved') {
    const outlines = groups.map(({ sourceIds }, i) => ({
      SourceIds: [...sourceIds],
      ...toArea(outcome.regions[i]),
    }))
    return { Outlines: outlines, IsDissolved: true, ...about }
  }
  const { drawing, problem } = outcome
  const outlines = groups.map((group) => drawnOutline(group, drawing))
  return { Outlines: outlines, IsDissolved: false, Problem: problem, ...about }
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

/** Of the positions in memory, in both notations. */
function heldBytesOf(outcome: Exclude<OutlineOutcome, { kind: 'tooComplex' }>): number {
  const polygons =
    outcome.kind === 'dissolved'
      ? outcome.regions.flat()
      : [outcome.drawing.included, outcome.drawing.excluded, outcome.drawing.boundaries].flat(2)
  const numberCount = polygons.flat().reduce((sum, ring) => sum + ring.length, 0)
  return numberCount * BYTES_PER_NUMBER
}

const BYTES_PER_NUMBER = 64
