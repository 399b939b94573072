/**
 * A map context: a named set of areas, each with its shape, how it is shown and who lives there.
 *
 * @module
 */
import type { Static } from 'typebox'
import { GeometrySchema } from './geometry.js'
import { flag, integer, listOf, member, members, number, requestMembers, text } from './members.js'
import { warnings } from './warnings.js'

const contextId = () =>
  text('Guid of a context, written as 32 lower-case hexadecimal digits and read in any form.')

const contextName = () => text('Name of a context.')

const ContactSchema = members('Contact', 'How many recipients of one source are in an area.', {
  Label: text('Label of the source.'),
  Count: number('Recipients or contacts of the source, by contactCountMode; a whole number.'),
})

const AreaSchema = members('Area', 'One area of a context.', {
  Id: text('Id of the area, of any form.'),
  Name: text('Name of the area.'),
  Geometry: member(GeometrySchema, 'Where it is.'),
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

export const MapContextSchema = members('MapContext', 'A named set of areas.', {
  Id: contextId(),
  ContextName: contextName(),
  Areas: listOf(AreaSchema, 'The areas, in the order in which they are kept.'),
  Warnings: warnings(),
})

/** Of requests that name one context. */
export const MapContextIdSchema = requestMembers({ Id: contextId() })

/** Of the request for a list of contexts: which of them, in the order of their ids. */
export const MapContextPageSchema = requestMembers({
  Skip: integer('How many contexts to leave out at the beginning; 0 or more. Default 0.'),
  Take: integer('How many contexts to return at most; a page is never longer than its limit.'),
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
