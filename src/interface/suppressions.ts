/**
 * Suppression lists: phones that are never counted and never listed.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { limits } from '../limits.js'
import { flag, integer, listOf, members, requestMembers, takeOf, text } from './members.js'
import { warnings } from './warnings.js'

const sourceId = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: limits.sourceIdMax })

const listSourceId = () =>
  sourceId(
    'Id of the source that the list holds for, which need not be there. Default all sources.',
  )

const phones = () =>
  Type.Array(Type.String(), {
    description:
      'Phone numbers, byte for byte as they are imported. One that is given twice counts once.',
    maxItems: limits.suppressionBatchCount,
  })

export const SuppressionBatchSchema = requestMembers({
  SourceId: listSourceId(),
  Numbers: phones(),
})

export const SuppressionRemovalSchema = requestMembers({
  SourceId: listSourceId(),
  Numbers: phones(),
  Number: text('One number, beside those of Numbers; in a query, its + is written %2B.'),
})

export const SuppressionPageSchema = requestMembers({
  SourceId: sourceId(
    'Id of the source whose list is read; default the list of all sources. With Number: to look ' +
      'at the lists that hold for this source alone; default at all lists.',
  ),
  Number: text(
    'A number to look up, instead of a page of a list; in a query, its + is written %2B.',
  ),
  After: text('Begins the page behind this number: Next of the page before. Default the first.'),
  Take: takeOf('numbers', limits.suppressionPageDefaultCount, limits.suppressionPageCount),
})

const SuppressionSchema = members('Suppression', 'A number on a suppression list.', {
  Number: text('The number, byte for byte as it was put there.'),
  SourceId: integer('Id of the source that the list holds for; left out for all sources.'),
  Since: text('When it was put there, in UTC, as in 2026-01-31T08:15:00.000Z.'),
})

const SuppressionListSchema = members('SuppressionList', 'A suppression list.', {
  SourceId: integer('Id of the source that it holds for; left out for all sources.'),
  HasSource: flag('Whether the source is there now; true for all sources.'),
  Count: integer('How many numbers are on it.'),
})

export const SuppressionPageResultSchema = members(
  'SuppressionPage',
  'Numbers of a suppression list, or the lists that a number is on.',
  {
    Version: integer('Grows with each change to any list; 0 before the first one.'),
    Total: integer('How many numbers are on the list that is read, on all pages.'),
    Results: listOf(SuppressionSchema, 'Numbers, in the order of their bytes.'),
    Next: text('What After is for the next page. Left out where nothing follows.'),
    Lists: listOf(SuppressionListSchema, 'All lists that have numbers.'),
  },
)

export const SuppressionChangeSchema = members(
  'SuppressionChange',
  'What a change to a suppression list did. Every service answers by it now.',
  {
    Version: integer('Of the lists, with this change.'),
    AddedCount: integer('Numbers that were put on the list. Only of PutSuppressionsRequest.'),
    PresentCount: integer('Numbers that were on it already. Only of PutSuppressionsRequest.'),
    RemovedCount: integer('Numbers that were taken off. Only of DeleteSuppressionsRequest.'),
    AbsentCount: integer('Numbers that were not on it. Only of DeleteSuppressionsRequest.'),
    Total: integer('How many numbers are on the list now.'),
    RecipientCount: integer(
      'Recipients of the current snapshot that have one of these numbers, of the source or of all. ' +
        'Not given to a key that has a boundary.',
    ),
    HasSource: flag('Whether the source is there now; true for all sources.'),
    Warnings: warnings(),
  },
)

export type SuppressionChange = Static<typeof SuppressionChangeSchema>
export type SuppressionPage = Static<typeof SuppressionPageResultSchema>
