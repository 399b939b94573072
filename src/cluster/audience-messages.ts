/**
 * What the main thread asks the thread of a cluster about audiences. All are plain data.
 *
 * @module
 */
import type { AnnouncedAudience, MadeAudience } from '../store/audiences.js'
import type { Brought } from './audience-desk.js'
import type { Kept } from './until-kept.js'

export type AudienceAsk =
  /** Put the file of an audience of this machine into the object store. */
  | { readonly kind: 'put'; readonly made: MadeAudience }
  /** Tell when an audience stays although a machine is lost. */
  | {
      readonly kind: 'untilKept'
      /** Of the entry that announced it. */
      readonly entrySequence: number
      readonly file: AnnouncedAudience['file']
    }
  /** Get the files of an audience. */
  | {
      readonly kind: 'bring'
      readonly id: string
      readonly isDamaged: boolean
      readonly waitMs: number
    }

/** The answers, by the kind of the ask. */
export interface AudienceTold {
  /** The documents of its snapshot. */
  readonly put: AnnouncedAudience['documents']
  readonly untilKept: Kept
  readonly bring: Brought
}
