/**
 * Alerts that are kept, and who is affected by what changed from one to the next.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import {
  AlertReferenceSchema,
  AreaSchema,
  alertMembers,
  contextId,
  contextName,
} from './context.js'
import { flag, integer, listOf, members, pageMembers, requestMembers, text } from './members.js'
import { notationMembers } from './notations.js'
import { RecipientRequestSchema, SourceRecordSchema } from './recipients.js'
import { warnings } from './warnings.js'

const identifier = () => text('The identifier of the alert.')
const sender = () =>
  text(
    'The sender of the alert. Needed only where several senders have an alert with this identifier.',
  )

const { language, expired, ended, profile, geocodes, geocodeSystems } = notationMembers

export const PutAlertSchema = requestMembers({
  Identifier: identifier(),
  cap: text('The alert: a text of CAP 1.2. A GeoJSON of api.weather.gov is read here as well.'),
  language,
  expired,
  ended,
  profile,
  geocodes,
  geocodeSystems,
})

export const AlertIdSchema = requestMembers({ Identifier: identifier(), sender: sender() })

/** Of the request for a list of alerts: which of them, in the order of their contexts. */
export const AlertPageSchema = requestMembers({
  ...pageMembers('alerts'),
})

const KeptReferenceSchema = members('KeptReference', 'An earlier alert that an alert refers to.', {
  ...AlertReferenceSchema.properties,
  IsKept: flag('Whether it is kept here.'),
})

const supersededBy = () =>
  listOf(
    AlertReferenceSchema,
    'The kept Updates and Cancels that refer to it. Left out where there is none.',
  )

const { Identifier, Sender, Sent, Status, MsgType, Expires, Cap } = alertMembers

export const AlertSchema = members('Alert', 'An alert that is kept.', {
  Identifier,
  Sender,
  Sent,
  Status,
  MsgType,
  Expires,
  References: listOf(
    KeptReferenceSchema,
    'The alerts that it refers to. Left out where there is none.',
  ),
  SupersededBy: supersededBy(),
  ContextId: text('Id of the context that it is kept as.'),
  ContextName: contextName(),
  Areas: listOf(AreaSchema, 'Its areas, with who is inside now.'),
  Cap,
  Warnings: warnings(),
})

const AlertSummarySchema = members('AlertSummary', 'A kept alert without its areas.', {
  Identifier,
  Sender,
  Sent,
  Status,
  MsgType,
  Expires,
  SupersededBy: supersededBy(),
  ContextId: contextId(),
  ContextName: contextName(),
  AreaCount: integer('How many areas it has.'),
})

export const AlertListSchema = members('AlertList', 'Kept alerts, page by page.', {
  Offset: integer('How many alerts come before the first of this list.'),
  Total: integer('How many alerts there are, on all pages.'),
  Results: listOf(AlertSummarySchema, 'Alerts by ascending ContextId, from Offset on.'),
})

const { sources } = RecipientRequestSchema.properties

/** Who is affected: those who are new, those who are no longer inside, and those who stay. */
export type ChangedPart = 'new' | 'gone' | 'staying'

export const AlertChangesRequestSchema = requestMembers({
  Identifier: identifier(),
  sender: sender(),
  since: text(
    'The identifier of the kept alert to compare with. Default: the kept alerts in its references; of several ' +
      'all together, but for those that others of them supersede.',
  ),
  sinceSender: text('The sender of that alert, where several have one with this identifier.'),
  part: Type.Unsafe<ChangedPart>({
    type: 'string',
    enum: ['new', 'gone', 'staying'],
    description:
      'Whom to answer for: new is inside now and was not before, gone was inside and is not now, staying is both. ' +
      'Default: how many there are of each.',
  }),
  countsOnly: flag('With part: true for counts alone, without recipients. Default false.'),
  sources,
})

const { SourceId, Label, Count, Status: searched, Recipients } = SourceRecordSchema.properties

const ChangedRecordSchema = members('ChangedRecord', 'Who of one source is affected.', {
  SourceId,
  Label,
  NewCount: integer('Recipients who are inside now and were not before. Without part.'),
  GoneCount: integer('Recipients who were inside and are not now. Without part.'),
  StayingCount: integer('Recipients who were inside and still are. Without part.'),
  Count,
  Status: searched,
  Recipients,
})

export const AlertChangesSchema = members(
  'AlertChanges',
  'Who is affected by what changed from one alert to the next, by where everybody is at one moment.',
  {
    Identifier: identifier(),
    Since: listOf(AlertReferenceSchema, 'The alerts that it was compared with. Without part.'),
    SourceRecords: listOf(
      ChangedRecordSchema,
      'One record for each source, by ascending SourceId. With part, as of a recipient request.',
    ),
    Warnings: warnings(),
  },
)

export type AlertDocument = Static<typeof AlertSchema>
export type AlertSummary = Static<typeof AlertSummarySchema>
export type AlertChanges = Static<typeof AlertChangesSchema>
