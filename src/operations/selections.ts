/**
 * RecipientRequest, OutlineRequest and GetSourcesRequest: recipients inside shapes, shapes as polygons, and how many
 * recipients of each source can be selected.
 *
 * @module
 */
import { warningHeaders } from '../format/warning-headers.js'
import { bind } from '../interface/bind.js'
import type { CountMode } from '../interface/count-mode.js'
import {
  type ServedSources,
  ServedSourcesSchema,
  SourcesRequestSchema,
} from '../interface/sources.js'
import { type OutlineService, outline } from '../outline/outline.js'
import type { Asker } from '../selection/access.js'
import { answer, type CurrentService, type SelectionService, select } from '../selection/answer.js'
import { checkFreshness } from '../selection/freshness.js'
import { Remarks } from '../selection/remarks.js'
import { validate } from '../selection/validate.js'
import { columnsOf, documentAnswer, tableOf } from './document-answer.js'
import type { Execute } from './execute.js'

export function recipientOperations(current: CurrentService): { RecipientRequest: Execute } {
  return { RecipientRequest: (request, caller) => answer(current.hold(caller), request, caller) }
}

export function outlineOperations(service: OutlineService): { OutlineRequest: Execute } {
  return { OutlineRequest: (request, caller) => outline(service, request, caller) }
}

export function sourceOperations(current: CurrentService): { GetSourcesRequest: Execute } {
  return {
    async GetSourcesRequest(request, caller) {
      bind(SourcesRequestSchema, request)
      const service = current.hold(caller)
      const remarks = new Remarks()
      checkFreshness(service.freshness, false, remarks)
      const sinceMs = current.heldSinceMs(caller)
      const [recipients, contacts] = await Promise.all([
        countAll(service, 'ContactLocation', caller),
        countAll(service, 'Contact', caller),
      ])
      const { snapshotId, sequence, createdAt } = service.catalogue
      const sources = recipients.map(({ source: { id }, count }) => ({ id, count }))
      const facts = () => ({ snapshotId, changesSequence: sequence, sources })
      const answer = sourcesAnswer(sequence, {
        SnapshotId: snapshotId,
        CreatedAt: createdAt,
        ServedSince: new Date(sinceMs).toISOString(),
        Sources: recipients.map(({ source: { id, label }, count }, at) => ({
          SourceId: id,
          Label: label,
          Count: count,
          ContactCount: contacts[at].count,
        })),
        ...(remarks.warnings !== undefined && { Warnings: remarks.warnings }),
      })
      return { ...answer, warnings: remarks.warnings, records: () => [{ facts }] }
    },
  }
}

/** As a recipient request for the whole globe does, so that both always have the same counts. */
function countAll(service: SelectionService, countMode: CountMode, caller: Asker) {
  const query = validate({ countsOnly: true, geoJSON: GLOBE })
  const boundary = service.boundaryRule.for(undefined, caller.access)
  return select(service, query, { countMode, boundary }, caller)
}

const GLOBE = {
  type: 'Polygon',
  coordinates: [
    [
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ],
  ],
}

function sourcesAnswer(sequence: number, served: ServedSources) {
  const json = Buffer.from(JSON.stringify(served))
  return documentAnswer({
    json,
    columns: COLUMNS,
    table: SOURCES,
    headers: {
      'X-Snapshot': String(served.SnapshotId),
      'X-Sequence': String(sequence),
      'Cache-Control': 'no-store',
      ...warningHeaders(served.Warnings),
    },
  })
}

/** Warnings have a header. */
const COLUMNS = columnsOf(ServedSourcesSchema).filter((name) => name !== 'Warnings')

const SOURCES = tableOf('Sources', columnsOf(ServedSourcesSchema.properties.Sources.items))
