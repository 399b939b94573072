/**
 * Whether a source counts its recipients, which are locations, or its contacts; as shard/select.ts.
 *
 * @module
 */
import { type Static, Type } from '#typebox'

export const CountModeSchema = Type.Unsafe<'ContactLocation' | 'Contact'>({
  title: 'CountMode',
  description:
    'ContactLocation: every recipient counts. Contact: a contact counts once in a source, however ' +
    'many of its recipients are selected.',
  type: 'string',
  enum: ['ContactLocation', 'Contact'],
})

export type CountMode = Static<typeof CountModeSchema>
