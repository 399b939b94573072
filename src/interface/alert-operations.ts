/**
 * The operations on alerts that are kept.
 *
 * @module
 */
import {
  AlertChangesRequestSchema,
  AlertChangesSchema,
  AlertIdSchema,
  AlertListSchema,
  AlertPageSchema,
  AlertSchema,
  PutAlertSchema,
} from './alerts.js'
import { areaColumns } from './context.js'
import * as examples from './examples.js'
import type { Operation } from './operation.js'

export const alertOperations = {
  PutAlertRequest: {
    summary: 'Keeps an alert',
    description:
      'The body is an alert of CAP (application/cap+xml), or JSON with the member cap. It is kept as a context, and ' +
      'counted as such; its geocodes become the polygons that the gazetteer has now. Keeping the same alert again ' +
      'changes nothing. As CSV: one row an area. As GeoJSON: one feature an area.',
    verb: 'PUT',
    paths: ['/api/alerts/{Identifier}'],
    isWrite: true,
    scopes: ['contexts:write'],
    request: PutAlertSchema,
    response: AlertSchema,
    hasFeatures: true,
    csvColumns: areaColumns,
    examples: examples.newAlert,
  },
  GetAlertRequest: {
    summary: 'Reads a kept alert',
    description:
      'Returns its areas with who is inside each now, what it refers to, and what supersedes it. As CSV: one row an ' +
      'area. As GeoJSON: one feature an area.',
    verb: 'GET',
    paths: ['/api/alerts/{Identifier}'],
    isWrite: false,
    scopes: ['contexts:read'],
    request: AlertIdSchema,
    response: AlertSchema,
    hasFeatures: true,
    csvColumns: areaColumns,
    hasTag: true,
    examples: examples.alertId,
  },
  GetAlertsRequest: {
    summary: 'Lists the kept alerts',
    description: 'Returns them page by page, by ascending ContextId. As CSV: one row an alert.',
    verb: 'GET',
    paths: ['/api/alerts'],
    isWrite: false,
    scopes: ['contexts:read'],
    request: AlertPageSchema,
    response: AlertListSchema,
    hasTag: true,
    examples: examples.alertPage,
  },
  GetAlertChangesRequest: {
    summary: 'Tells who is affected by what changed since an earlier alert',
    description:
      'Who is new in an alert, who is gone, and who stays: counts of all three or, with part, a list or counts of ' +
      'one of them as JSON, CSV or NDJSON of a recipient request. As CSV without part: one row a source.',
    verb: 'GET',
    paths: ['/api/alerts/{Identifier}/changes'],
    isWrite: false,
    scopes: ['counts', 'lists'],
    request: AlertChangesRequestSchema,
    response: AlertChangesSchema,
    csvColumns: ['SourceId', 'Label', 'NewCount', 'GoneCount', 'StayingCount'],
    examples: examples.alertChanges,
  },
  DeleteAlertRequest: {
    summary: 'Deletes a kept alert',
    description: 'Returns nothing.',
    verb: 'DELETE',
    paths: ['/api/alerts/{Identifier}'],
    isWrite: true,
    scopes: ['contexts:write'],
    request: AlertIdSchema,
    response: undefined,
    examples: examples.doomedAlert,
  },
} as const satisfies Readonly<Record<string, Operation>>
