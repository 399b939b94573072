/**
 * Views: a snapshot at its moments, and which of them a request is answered from.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Caller } from '../pool/tasks.js'
import type { Catalogue } from './catalogue.js'
import { cursorExpired, type Place } from './cursor.js'
import type { Query } from './validate.js'

/** A snapshot at all moments up to now. */
export interface Views<View> {
  /** Of the batch at moment 0, in the journal of changes. */
  readonly baseSequence: number
  readonly newest: View
  /** The view at a moment that is not later than the newest one. */
  at(moment: number): View
  /**
   * Resolves when there is a moment, with false where it does not come in time.
   *
   * @throws ServiceError  Overloaded, as a rejection, where too many wait
   */
  until(moment: number, deadlineMs: number): Promise<boolean>
}

interface Seen<View> {
  readonly catalogue: Pick<Catalogue, 'sequence'>
  /** Of what came since the snapshot, how many batches of changes it is with. */
  readonly moment: number
  readonly seal: number
  readonly views: Views<View>
}

/**
 * The view that a request is answered from, at once where it is there: of a page behind the first one that
 * of the first one, and otherwise the one that is given, or the newest when the request has waited.
 *
 * @param after  where the page begins; undefined is the first one
 * @throws ServiceError  InvalidRequest or CursorExpired; SequenceNotReached or Overloaded as a rejection
 */
export function viewFor<View extends Seen<View>>(
  view: View,
  { minSequence }: Pick<Query, 'minSequence'>,
  after: Place | undefined,
  caller: Caller,
): View | Promise<View> {
  if (after !== undefined) {
    if (minSequence !== undefined) throw new ServiceError('InvalidRequest', NOT_BOTH, 'minSequence')
    return viewAt(view, after, caller)
  }
  if (minSequence === undefined || minSequence <= view.catalogue.sequence) return view
  const { views } = view
  const moment = minSequence - views.baseSequence
  return untilThere(views, moment, 'minSequence', caller).then(() => views.newest)
}

function viewAt<View extends Seen<View>>(
  view: View,
  { moment, seal }: Place,
  caller: Caller,
): View | Promise<View> {
  const { views } = view
  // In a directory that was restored as many batches may be other ones.
  const sealed = (found: View) => {
    if (found.seal === seal) return found
    throw cursorExpired()
  }
  if (moment === view.moment) return sealed(view)
  if (moment <= views.newest.moment) return sealed(views.at(moment))
  // Another service of the data directory gave the cursor, and was faster.
  return untilThere(views, moment, 'after', caller).then(() => sealed(views.at(moment)))
}

async function untilThere<View extends Seen<View>>(
  views: Views<View>,
  moment: number,
  field: string,
  { deadlineMs }: Caller,
): Promise<void> {
  const nowMs = performance.now()
  if (await views.until(moment, Math.min(deadlineMs, nowMs + limits.sequenceWaitMs))) return
  const { sequence } = views.newest.catalogue
  const problem = `the changes up to ${views.baseSequence + moment} are not in the answer yet, those up to ${sequence} are`
  throw new ServiceError('SequenceNotReached', `${problem}: try again soon`, field)
}

const NOT_BOTH =
  'minSequence is for the first page, and those behind it have the same recipients: leave it out'
