/**
 * The operations of the service: their names, and where and how they are called.
 *
 * @module
 */
import { alertOperations } from './alert-operations.js'
import { AreaFeatureSchema, AreaListSchema, AreaNameSchema, AreaSearchSchema } from './areas.js'
import {
  AudienceIdSchema,
  AudienceListSchema,
  AudiencePageSchema,
  AudienceRecipientsSchema,
  AudienceRequestSchema,
  AudienceSchema,
} from './audiences.js'
import { ChangesRequestSchema, ChangesTakenSchema } from './changes.js'
import { MapConfigurationSchema } from './configuration.js'
import {
  areaColumns,
  MapContextIdSchema,
  MapContextListSchema,
  MapContextPageSchema,
  MapContextSchema,
} from './context.js'
import * as examples from './examples.js'
import { GridRequestSchema, GridSchema } from './grid.js'
import { NothingSchema } from './members.js'
import type { Operation } from './operation.js'
import { OutlineRequestSchema, OutlineResponseSchema, OutlineSchema } from './outline.js'
import { RecipientRequestSchema, RecipientResponseSchema } from './recipients.js'
import { ServedSourcesSchema, SourcesRequestSchema } from './sources.js'
import {
  SuppressionBatchSchema,
  SuppressionChangeSchema,
  SuppressionPageResultSchema,
  SuppressionPageSchema,
  SuppressionRemovalSchema,
} from './suppressions.js'

export const operations = {
  GetMapConfigurationRequest: {
    summary: 'Reads the map configuration',
    description: 'Returns everything a client needs to set up its map. As CSV: one row a base map.',
    verb: 'GET',
    paths: ['/api/configuration'],
    isWrite: false,
    scopes: ['config:read'],
    request: NothingSchema,
    response: MapConfigurationSchema,
    hasTag: true,
    examples: examples.noMembers,
  },
  PostMapConfigurationRequest: {
    summary: 'Replaces the map configuration',
    description: 'The members that are left out are absent from then on. Returns what was stored.',
    verb: 'POST',
    paths: ['/api/configuration'],
    isWrite: true,
    scopes: ['config:write'],
    request: MapConfigurationSchema,
    response: MapConfigurationSchema,
    examples: examples.configuration,
  },
  GetMapContextRequest: {
    summary: 'Reads a map context',
    description:
      'Returns a stored set of areas, with who is inside each. As CSV: one row an area. As GeoJSON: ' +
      'one feature an area.',
    verb: 'GET',
    paths: ['/api/contexts/{Id}'],
    isWrite: false,
    scopes: ['contexts:read'],
    request: MapContextIdSchema,
    response: MapContextSchema,
    hasFeatures: true,
    csvColumns: areaColumns,
    hasTag: true,
    examples: examples.contextId,
  },
  GetMapContextsRequest: {
    summary: 'Lists the map contexts',
    description: 'Returns Ids and names, page by page, by ascending Id. As CSV: one row a context.',
    verb: 'GET',
    paths: ['/api/contexts'],
    isWrite: false,
    scopes: ['contexts:read'],
    request: MapContextPageSchema,
    response: MapContextListSchema,
    hasTag: true,
    examples: examples.contextPage,
  },
  PostMapContextRequest: {
    summary: 'Stores a new map context',
    description: 'A context without an Id gets one. Returns what was stored.',
    verb: 'POST',
    paths: ['/api/contexts'],
    isWrite: true,
    scopes: ['contexts:write'],
    request: MapContextSchema,
    response: MapContextSchema,
    hasFeatures: true,
    csvColumns: areaColumns,
    examples: examples.newContext,
  },
  PutMapContextRequest: {
    summary: 'Replaces a map context',
    description:
      'The context is the one with the Id of the path or, without one there, of the body. ' +
      'Returns what was stored.',
    verb: 'PUT',
    paths: ['/api/contexts', '/api/contexts/{Id}'],
    isWrite: true,
    scopes: ['contexts:write'],
    request: MapContextSchema,
    response: MapContextSchema,
    hasFeatures: true,
    csvColumns: areaColumns,
    examples: examples.changedContext,
  },
  DeleteMapContextRequest: {
    summary: 'Deletes a map context',
    description: 'Returns nothing.',
    verb: 'DELETE',
    paths: ['/api/contexts/{Id}'],
    isWrite: true,
    scopes: ['contexts:write'],
    request: MapContextIdSchema,
    response: undefined,
    examples: examples.doomedContext,
  },
  ...alertOperations,
  RecipientRequest: {
    summary: 'Counts and lists who is inside shapes',
    description:
      'Both paths are the same. As CSV: one row a recipient, or with countsOnly one row a ' +
      'source (SourceId, Label, Count, Status); with layout=sources, one row a source and its ' +
      'recipients in one cell. As NDJSON: one line a recipient (SourceId, Number, LatLng), or with ' +
      'countsOnly one line a source. As GeoJSON: one Point a recipient.',
    verb: 'POST',
    paths: ['/api/recipients', '/api/data/Geometry'],
    isWrite: false,
    scopes: ['counts', 'lists'],
    request: RecipientRequestSchema,
    response: RecipientResponseSchema,
    hasFeatures: true,
    csvColumns: ['SourceId', 'Label', 'Number', 'Lat', 'Lng'],
    examples: examples.recipients,
  },
  PostAudienceRequest: {
    summary: 'Freezes who is inside shapes',
    description:
      'Selects once, as a recipient request does, and keeps who was selected under an id. Returns ' +
      'counts, never recipients.',
    verb: 'POST',
    paths: ['/api/audiences'],
    isWrite: true,
    scopes: ['lists'],
    request: AudienceRequestSchema,
    response: AudienceSchema,
    csvColumns: Object.keys(AudienceSchema.properties),
    examples: examples.newAudience,
  },
  GetAudiencesRequest: {
    summary: 'Lists the audiences',
    description:
      'Those that were made with the same key and have not expired, or all with a key that may do ' +
      'everything; counts, never recipients. As CSV: one row an audience.',
    verb: 'GET',
    paths: ['/api/audiences'],
    isWrite: false,
    scopes: ['lists'],
    request: NothingSchema,
    response: AudienceListSchema,
    examples: examples.audiences,
  },
  GetAudienceRequest: {
    summary: 'Lists who is in an audience',
    description:
      'The same recipients in the same order for as long as the audience lives, whatever is imported, ' +
      'less those who are suppressed by now. In all formats of a recipient request.',
    verb: 'GET',
    paths: ['/api/audiences/{Id}'],
    isWrite: false,
    scopes: ['lists'],
    request: AudiencePageSchema,
    response: AudienceRecipientsSchema,
    hasFeatures: true,
    csvColumns: ['SourceId', 'Label', 'Number', 'Lat', 'Lng'],
    examples: examples.audiencePage,
  },
  DeleteAudienceRequest: {
    summary: 'Deletes an audience',
    description: 'Returns nothing.',
    verb: 'DELETE',
    paths: ['/api/audiences/{Id}'],
    isWrite: true,
    scopes: ['lists'],
    request: AudienceIdSchema,
    response: undefined,
    examples: examples.doomedAudience,
  },
  GetSourcesRequest: {
    summary: 'Tells what is served',
    description:
      'Returns the snapshot and its sources, with how many recipients and contacts of each can be ' +
      'selected now. As CSV: one row a source.',
    verb: 'GET',
    paths: ['/api/sources'],
    isWrite: false,
    scopes: ['counts', 'lists'],
    request: SourcesRequestSchema,
    response: ServedSourcesSchema,
    examples: examples.servedSources,
  },
  GetAreasRequest: {
    summary: 'Finds areas that have names',
    description:
      'Counties, states, countries and whatever else was imported, page by page. As CSV: one row an area.',
    verb: 'GET',
    paths: ['/api/areas'],
    isWrite: false,
    scopes: ['counts', 'lists'],
    request: AreaSearchSchema,
    response: AreaListSchema,
    csvColumns: ['Id', 'Layer', 'Key', 'Name', 'Aliases'],
    hasTag: true,
    examples: examples.areaSearch,
  },
  GetAreaRequest: {
    summary: 'Reads an area that has a name',
    description:
      'Returns its shape, as a Feature of GeoJSON with what is known of it. As CSV: one row. As GeoJSON: a ' +
      'collection of one feature.',
    verb: 'GET',
    paths: ['/api/areas/{Name}'],
    isWrite: false,
    scopes: ['counts', 'lists'],
    request: AreaNameSchema,
    response: AreaFeatureSchema,
    hasFeatures: true,
    csvColumns: Object.keys(AreaFeatureSchema.properties),
    hasTag: true,
    examples: examples.areaName,
  },
  OutlineRequest: {
    summary: 'Returns the area that a recipient request selects from',
    description:
      'The union of what is included, less what is excluded; circles, corridors and margins ' +
      'become polygons. As CSV: one row an outline. As GeoJSON: one feature an outline.',
    verb: 'POST',
    paths: ['/api/outline'],
    isWrite: false,
    scopes: ['counts', 'lists'],
    request: OutlineRequestSchema,
    response: OutlineResponseSchema,
    hasFeatures: true,
    csvColumns: [
      ...Object.keys(OutlineSchema.properties),
      ...columnsOf(OutlineResponseSchema).filter((name) => name !== 'Outlines'),
    ],
    examples: examples.outline,
  },
  GridRequest: {
    summary: 'Counts who is inside shapes, by the cells of a grid',
    description:
      'For a map of where people are: the cells of H3 or the parts of a map tile, and how many are in each. ' +
      'As CSV: one row a cell. As GeoJSON: one feature a cell.',
    verb: 'POST',
    paths: ['/api/grid'],
    isWrite: false,
    scopes: ['counts'],
    request: GridRequestSchema,
    response: GridSchema,
    hasFeatures: true,
    examples: examples.grid,
  },
  GetSuppressionsRequest: {
    summary: 'Reads a suppression list',
    description:
      'Returns numbers page by page, or with Number the lists that it is on, and in any case how ' +
      'long all lists are. As CSV: one row a number.',
    verb: 'GET',
    paths: ['/api/suppressions'],
    isWrite: false,
    scopes: ['suppressions:read'],
    request: SuppressionPageSchema,
    response: SuppressionPageResultSchema,
    examples: examples.suppressionPage,
  },
  PutSuppressionsRequest: {
    summary: 'Puts numbers on a suppression list',
    description:
      'From the answer on, nobody with one of these numbers is counted or listed, whatever is ' +
      'imported. Numbers are compared byte for byte. All of them are put there, or none.',
    verb: 'PUT',
    paths: ['/api/suppressions'],
    isWrite: true,
    scopes: ['suppressions:write'],
    request: SuppressionBatchSchema,
    response: SuppressionChangeSchema,
    csvColumns: columnsOf(SuppressionChangeSchema),
    examples: examples.suppressed,
  },
  DeleteSuppressionsRequest: {
    summary: 'Takes numbers off a suppression list',
    description:
      'A number that another list has as well stays suppressed. All of them are taken off, or none.',
    verb: 'DELETE',
    paths: ['/api/suppressions'],
    isWrite: true,
    scopes: ['suppressions:write'],
    hasBody: true,
    request: SuppressionRemovalSchema,
    response: SuppressionChangeSchema,
    csvColumns: columnsOf(SuppressionChangeSchema),
    examples: examples.unsuppressed,
  },
  PostChangesRequest: {
    summary: 'Changes some recipients of a source',
    description:
      'The answer comes when the batch is on disk. A bad change refuses all of them, and the message has ' +
      'the numbers of the bad rows. The body may also be lines of NDJSON, each a change; batchId is in ' +
      'the header Idempotency-Key then, or in the query.',
    verb: 'POST',
    paths: ['/api/sources/{Id}/changes'],
    isWrite: true,
    scopes: ['changes'],
    request: ChangesRequestSchema,
    linesMember: 'changes',
    idempotencyMember: 'batchId',
    response: ChangesTakenSchema,
    csvColumns: columnsOf(ChangesTakenSchema),
    examples: examples.changes,
  },
} as const satisfies Readonly<Record<string, Operation>>

export type OperationName = keyof typeof operations

/** Warnings have a header. */
function columnsOf(schema: { readonly properties: object }): string[] {
  return Object.keys(schema.properties).filter((name) => name !== 'Warnings')
}
