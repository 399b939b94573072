/**
 * Changes of some recipients of a source.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { limits } from '../limits.js'
import { flag, integer, members, number, requestMembers, text } from './members.js'
import { warnings } from './warnings.js'

const ChangeSchema = members('RecipientChange', 'One recipient that is there, or is not.', {
  op: Type.Unsafe<'upsert' | 'delete'>({
    description:
      'Whether exactly this recipient is there from now on, or nobody with its identity.',
    type: 'string',
    enum: ['upsert', 'delete'],
  }),
  key: text('In a source that was imported with keys: the key, which says who is meant.'),
  number: text('Phone number, byte for byte as it is imported.'),
  lat: number('Latitude in degrees. Only of upsert.'),
  lng: number('Longitude in degrees. Only of upsert.'),
  contact: text(
    'The contact; left out for none. Without keys, number and contact say who is meant.',
  ),
})

export const ChangesRequestSchema = requestMembers({
  Id: Type.Integer({
    description: 'Id of the source.',
    minimum: 0,
    maximum: limits.sourceIdMax,
  }),
  batchId: text(
    'Names the batch, in 1 to 128 bytes: whoever got no answer sends the same changes again under the ' +
      'same batchId, and they are taken once. Also the header Idempotency-Key.',
  ),
  allowShrink: flag(
    `True lets the batch delete more than ${limits.shrinkPercent} % of the recipients of the source. ` +
      `Default false; up to ${limits.freelyDeletedCount} recipients are deleted in any case.`,
  ),
  changes: Type.Array(ChangeSchema, {
    description: 'All are taken, or none. Of several with the same identity the last one counts.',
    maxItems: limits.batchChangeCount,
  }),
})

export const ChangesTakenSchema = members('ChangesTaken', 'A batch of changes that is on disk.', {
  Sequence: integer('Number of the batch among all of the service; each is higher than the last.'),
  Repeated: flag('Whether the batch was there already, with this Sequence.'),
  ChangeCount: integer('How many changes the batch has.'),
  AbsentCount: integer(
    'How many recipients that were to be deleted were not there. Left out where that is not known at once, as of a ' +
      'repeated batch, on a machine of a cluster and to a key that has a boundary.',
  ),
  Warnings: warnings(),
})

export type ChangesTaken = Static<typeof ChangesTakenSchema>
