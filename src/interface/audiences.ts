/**
 * Audiences: selections that are frozen, and stay the same for as long as they live.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { limits } from '../limits.js'
import { integer, listOf, members, requestMembers, text } from './members.js'
import { notationMembers } from './notations.js'
import { RecipientRequestSchema, RecipientResponseSchema } from './recipients.js'
import { warnings } from './warnings.js'

const { geoJSON, sources, contactCountMode, distinct, clipToBoundary, minSequence } =
  RecipientRequestSchema.properties

export const AudienceRequestSchema = members(
  'AudienceRequest',
  'Asks for everybody inside shapes to be frozen.',
  {
    geoJSON,
    ...notationMembers,
    sources,
    contactCountMode,
    distinct,
    clipToBoundary,
    minSequence,
    lifetimeSeconds: Type.Integer({
      description:
        'How long the audience can be read, in seconds. Default ' +
        `${limits.audienceLifetimeDefaultSeconds}, a day.`,
      minimum: 1,
      maximum: limits.audienceLifetimeSeconds,
    }),
  },
)

const AudienceSourceSchema = members('AudienceSource', 'Who of one source is in an audience.', {
  SourceId: integer('Id of the source.'),
  Label: text('Label of the source when the audience was made.'),
  Count: integer('Recipients that are frozen.'),
})

export const AudienceSchema = members('Audience', 'A selection that is frozen.', {
  Id: text('32 hexadecimal digits.'),
  Count: integer('Recipients that are frozen, of all sources.'),
  Sources: listOf(AudienceSourceSchema, 'One for each source that was asked for.'),
  SnapshotId: text('Id of the snapshot in which they are, as in the header X-Snapshot.'),
  Sequence: integer(
    'The last batch of changes that is in it, as in the header X-Sequence; 0 for none.',
  ),
  Digest: text('SHA-256 over who is in it, in hexadecimal digits.'),
  CreatedAt: text('When it was made, in UTC, as in 2026-01-31T08:15:00.000Z.'),
  ExpiresAt: text('From when on it cannot be read, in UTC.'),
  Warnings: warnings(),
})

export const AudienceListSchema = members('AudienceList', 'Audiences that can be read.', {
  Results: listOf(AudienceSchema, 'In the order in which they were made.'),
})

export const AudienceIdSchema = requestMembers({ Id: text('Id of the audience.') })

export const AudiencePageSchema = requestMembers({
  Id: text('Id of the audience.'),
  limit: Type.Integer({
    description:
      'How many recipients to list at most. If more follow, the header X-Next-After of the answer is ' +
      'the place to go on from. Default all.',
    minimum: 1,
    maximum: limits.pageRecipientCount,
  }),
  after: Type.Integer({
    description:
      'A place: how many of those who are frozen are passed over, suppressed or not. Default 0.',
    minimum: 0,
  }),
})

export const AudienceRecipientsSchema = members(
  'AudienceRecipients',
  'Who is in an audience and not suppressed.',
  {
    SourceRecords: {
      ...RecipientResponseSchema.properties.SourceRecords,
      description:
        'One record for each source that was asked for, by ascending SourceId. Its Count is how many are ' +
        'frozen and not suppressed, on all pages.',
    },
    NextAfter: text('The place that follows, as in the header X-Next-After. Left out at the end.'),
    AudienceId: text('Id of the audience.'),
    Digest: text('SHA-256 over who was frozen, as when it was made.'),
    SuppressedCount: integer('How many of the frozen ones are suppressed by now, and so left out.'),
  },
)

export type AudienceDocument = Static<typeof AudienceSchema>
