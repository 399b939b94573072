/**
 * What is served: the snapshot and its sources.
 *
 * @module
 */
import type { Static } from '#typebox'
import { integer, listOf, members, requestMembers, text } from './members.js'
import { warnings } from './warnings.js'

/** Of the request for what is served. */
export const SourcesRequestSchema = requestMembers({})

const ServedSourceSchema = members('ServedSource', 'A source that is served.', {
  SourceId: integer('Id of the source.'),
  Label: text('Label of the source.'),
  Count: integer(
    'Recipients that can be selected now: without those that are suppressed, or beyond the boundary ' +
      'that holds for whoever asks.',
  ),
  ContactCount: integer('Contacts that have such a recipient.'),
})

export const ServedSourcesSchema = members('ServedSources', 'What is served.', {
  SnapshotId: text('Id of the snapshot, as in the header X-Snapshot.'),
  CreatedAt: text('When an import made it, in UTC, as in 2026-01-31T08:15:00.000Z.'),
  ServedSince: text('Since when it is served, in UTC.'),
  Sources: listOf(ServedSourceSchema, 'Its sources by ascending SourceId.'),
  Warnings: warnings(),
})

export type ServedSources = Static<typeof ServedSourcesSchema>
