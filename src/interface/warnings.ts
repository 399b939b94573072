/**
 * What may be wrong with a request that was answered all the same.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { capWarningCodes } from './cap-warnings.js'
import { listOf, members, text } from './members.js'

/** What each code says. */
const warningCodes = {
  NothingAsked:
    'nothing is drawn that selects, or no source is asked for, so that nobody is selected',
  NoGeometry: 'a feature or an area has no geometry, and selects nobody',
  FurtherFeatures: 'a collection says that its server has further features, which are not in it',
  PointWithoutRadius: 'a point without a radius selects who is exactly on it',
  LineWithoutBuffer: 'a line without a buffer selects who is exactly on it',
  NobodyNear: 'a shape touches no region that has recipients',
  EmptySource: 'a source that is answered for has no recipients',
  OutsideBoundary: 'a shape lies wholly outside the customer boundary',
  BoundaryHolds: 'the customer boundary holds, whatever the request says',
  UnknownMember: 'a member that is not known has no effect',
  Lagging:
    'the machine has not heard of changes for too long, and may answer without the last ones',
  ...capWarningCodes,
  SuppressesNone: 'a number that is put on a list is that of no recipient',
  DeletesNone: 'a change deletes nobody, since no recipient has its identity',
  ReferenceNotKept: 'an alert refers to one that is not kept here',
  OutlineMissing: 'an area of an alert has no outline, since its shapes could not be united',
  MoreWarnings: 'there are more warnings than are given',
} as const

export type WarningCode = keyof typeof warningCodes

const WarningCodeSchema = Type.Unsafe<WarningCode>({
  title: 'WarningCode',
  description: `What may be wrong. ${codesInWords()}. Match this, never a message.`,
  type: 'string',
  enum: Object.keys(warningCodes),
})

const WarningSchema = members('Warning', 'What may be wrong with a request that was answered.', {
  Code: WarningCodeSchema,
  Message: text('What may be wrong, and what to do, for people; may change.'),
  Path: text('Path of the member, such as geoJSON.features[2]. Left out where there is none.'),
})

export type Warning = Static<typeof WarningSchema>

export const warnings = () =>
  listOf(WarningSchema, 'What may be wrong with the request. Left out where there is nothing.')

function codesInWords(): string {
  return Object.entries(warningCodes)
    .map(([code, meaning]) => `${code}: ${meaning}`)
    .join('; ')
}
