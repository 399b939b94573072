/**
 * The recipient request and its response. The schemas describe and document; on the way of a
 * request, parsing and validating are done by code that is made for it.
 *
 * @module
 */
import { Type } from '#typebox'
import { limits } from '../limits.js'
import { CountModeSchema } from './count-mode.js'
import { GeoJsonSchema, sourceIds } from './drawing.js'
import { flag, integer, listOf, member, members, number, text } from './members.js'
import { notationMembers } from './notations.js'
import { warnings } from './warnings.js'

export const RecipientRequestSchema = members('RecipientRequest', 'Asks who is inside shapes.', {
  countsOnly: flag('True for counts alone, without recipients. Default false.'),
  geoJSON: member(
    GeoJsonSchema,
    'The shapes; without any, nobody is selected. GeoJson is read as well.',
  ),
  ...notationMembers,
  sources: sourceIds('Ids of the sources to answer for. Default all; an empty list is none.'),
  contactCountMode: member(
    CountModeSchema,
    'How recipients count. Default: as the map configuration says.',
  ),
  distinct: flag(
    'True to give each number once over all sources that are answered for, in counts and lists ' +
      'alike: the source with the lowest id keeps it, and within a source the first in the list. ' +
      'Default false.',
  ),
  clipToBoundary: flag(
    'True leaves out whoever is beyond CustomerBoundaryGeometry of the configuration, as if they were ' +
      'not there. Default false; where the service always does so, false changes nothing.',
  ),
  partial: flag(
    'True is answered although a part of the recipients cannot be reached, as when machines of a cluster are away: ' +
      'the Status of each source and the header X-Coverage say what is missing. Not with limit or after. ' +
      'Default false: such a request is refused.',
  ),
  limit: Type.Integer({
    description:
      'How many recipients to list at most, over all sources. If more follow, the header ' +
      'X-Next-After of the answer is the cursor to go on with. Not with countsOnly. Default all.',
    minimum: 1,
    maximum: limits.pageRecipientCount,
  }),
  after: text(
    'Cursor: lists what follows the page that came with it in the header X-Next-After. All other ' +
      'members but limit must be as they were. Default: from the beginning.',
  ),
  minSequence: Type.Integer({
    description:
      'The Sequence of a batch of changes that must be in the answer: the request waits for it, for ' +
      `${limits.sequenceWaitMs / 1_000} seconds at most. Not with after. Default: what is there now.`,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
})

const LatLngDetailsSchema = members('LatLngDetails', 'A place.', {
  Lat: number('Latitude in degrees, up to seven decimals.'),
  Lng: number('Longitude in degrees, up to seven decimals.'),
})

const RecipientSchema = members('Recipient', 'One recipient.', {
  Number: text('Phone number, byte for byte as it was imported.'),
  LatLng: member(LatLngDetailsSchema, 'Where the recipient is.'),
})

export const SourceRecordSchema = members('SourceRecord', 'Who of one source is inside.', {
  SourceId: integer('Id of the source.'),
  Label: text('Label of the source.'),
  Count: integer('Recipients that are selected, or contacts in the mode Contact.'),
  Status: text(
    '"Ok": the source was searched whole. "Partial", for a request with partial alone: some of its recipients could ' +
      'not be reached, and are not in the answer.',
  ),
  Recipients: listOf(RecipientSchema, 'Who is selected. Left out when only counts are asked for.'),
})

export const RecipientResponseSchema = members('RecipientResponse', 'Who is inside the shapes.', {
  SourceRecords: listOf(
    SourceRecordSchema,
    'One record for each source that is answered for, by ascending SourceId, also where nobody ' +
      'is inside.',
  ),
  NextAfter: text(
    'Cursor of what follows, as in the header X-Next-After. Left out where nothing follows.',
  ),
  Warnings: warnings(),
})
