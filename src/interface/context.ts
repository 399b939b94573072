/**
 * A map context: a named set of areas, each with its shape, how it is shown and who lives there.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { GeometrySchema } from './geometry.js'
import {
  flag,
  integer,
  listOf,
  member,
  members,
  number,
  pageMembers,
  requestMembers,
  text,
} from './members.js'
import { warnings } from './warnings.js'

export const contextId = () =>
  text('Guid of a context, written as 32 lower-case hexadecimal digits and read in any form.')

export const contextName = () => text('Name of a context.')

const ContactSchema = members('Contact', 'How many recipients of one source are in an area.', {
  Label: text('Label of the source.'),
  Count: number('Recipients or contacts of the source, by contactCountMode; a whole number.'),
})

export const AlertReferenceSchema = members('AlertReference', 'An alert, as others refer to it.', {
  Sender: text('Its sender.'),
  Identifier: text('Its identifier.'),
  Sent: text('When it was sent, as the alert has it.'),
})

export const alertMembers = {
  Identifier: text('Its identifier.'),
  Sender: text('Its sender.'),
  Sent: text('When it was sent, as the alert has it.'),
  Status: text('Actual, Exercise, System, Test or Draft.'),
  MsgType: text('Alert, Update or Cancel.'),
  Expires: text('When the last of its information expires. Left out where some of it never does.'),
  References: listOf(
    AlertReferenceSchema,
    'The alerts that it refers to. Left out where there is none.',
  ),
  Cap: Type.Unknown({
    description: 'The alert as it came: a text of CAP, or the GeoJSON of api.weather.gov.',
  }),
}

const ContextAlertSchema = members(
  'ContextAlert',
  'The alert that a context is: PUT /api/alerts/{Identifier} keeps it.',
  alertMembers,
)

export const AreaSchema = members('Area', 'One area of a context.', {
  Id: text('Id of the area, of any form.'),
  Name: text('Name of the area.'),
  Geometry: member(GeometrySchema, 'Where it is.'),
  Drawing: Type.Unknown({
    description:
      'Of an area of an alert: where it is exactly, as a FeatureCollection of polygons, and of Points with a radius ' +
      'in metres. It counts instead of Geometry, which is its outline. Refused where a client sends it.',
  }),
  DomId: text('Id of the element that shows it.'),
  ShapeType: text('Kind of shape that was drawn, such as "polygon"; kept as it is.'),
  IsVisible: flag('Whether it is shown on the map.'),
  IsSelected: flag('Whether it is selected on the map.'),
  IsActive: flag('Whether it is the one being worked on.'),
  IsUpdatingContactList: flag('Whether Contacts is of an earlier state and is being counted anew.'),
  Contacts: listOf(ContactSchema, 'Who is inside, one entry a source, as counted by the service.'),
  ContactTotalCount: number('Sum of the counts in Contacts.'),
  HasContactCountError: flag('Whether counting failed.'),
  HasInvalidShapeError: flag('Whether Geometry is not a valid shape, so that nobody is counted.'),
})

/** Of tables: the exact shape of an area is no cell. */
export const areaColumns: readonly string[] = Object.keys(AreaSchema.properties).filter(
  (name) => name !== 'Drawing',
)

export const MapContextSchema = members('MapContext', 'A named set of areas.', {
  Id: contextId(),
  ContextName: contextName(),
  Areas: listOf(AreaSchema, 'The areas, in the order in which they are kept.'),
  Alert: member(
    ContextAlertSchema,
    'The alert that the context is, if it is one. Refused where a client sends it.',
  ),
  Warnings: warnings(),
})

/** Of requests that name one context. */
export const MapContextIdSchema = requestMembers({ Id: contextId() })

/** Of the request for a list of contexts: which of them, in the order of their ids. */
export const MapContextPageSchema = requestMembers({
  ...pageMembers('contexts'),
})

const MapContextSummarySchema = members('MapContextSummary', 'A context without its areas.', {
  Id: contextId(),
  ContextName: contextName(),
  AreaCount: integer('How many areas it has.'),
})

export const MapContextListSchema = members('MapContextList', 'Stored contexts, page by page.', {
  Offset: integer('How many contexts come before the first of this list.'),
  Total: integer('How many contexts there are, on all pages.'),
  Results: listOf(MapContextSummarySchema, 'Contexts by ascending Id, from Offset on.'),
})

export type MapContextSummary = Static<typeof MapContextSummarySchema>
export type Contact = Static<typeof ContactSchema>
export type Area = Static<typeof AreaSchema>
export type MapContext = Static<typeof MapContextSchema>
export type ContextAlert = Static<typeof ContextAlertSchema>
export type AlertReference = Static<typeof AlertReferenceSchema>
