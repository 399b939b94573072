/**
 * On whose behalf a request is answered, and what the answer may then hold.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { KeyScope } from '../interface/key-scopes.js'
import { type Caller, callerUntil } from '../pool/tasks.js'

export interface Access {
  /** The name of the key that was sent; undefined where the service asks for none. */
  readonly keyName: string | undefined
  allows(scope: KeyScope): boolean
  /**
   * Polygons beyond which nobody is counted, listed or hinted at, as GeoJSON: the same object for as long
   * as they are the same. Undefined where the key has none.
   */
  readonly boundary: object | undefined
  /** What lists are counted against; undefined where there may be any. */
  readonly lists: ListBounds | undefined
}

/** How many lists, and how long ones, a key may have. */
export interface ListBounds {
  /**
   * Counts a list as under way until its caller is over, and several ones of a caller once.
   *
   * @throws TooManyRequests
   */
  begin(caller: Caller): void
  /**
   * Counts the rows of a list, before it is begun.
   *
   * @throws TooManyRequests
   */
  take(rowCount: number): void
}

/** The one who waits for an answer, with what it may ask for. */
export interface Asker extends Caller {
  readonly access: Access
  /** Told what was changed, for an audit: nothing of people. Left out where nobody records it. */
  changed?(facts: Readonly<Record<string, unknown>>): void
  /** Told that its key lacks a scope of which only the members could tell; left out where nobody counts. */
  lacksScope?(): void
}

/** Of a service that asks for no keys. */
export const OPEN_ACCESS: Access = {
  keyName: undefined,
  allows: () => true,
  boundary: undefined,
  lists: undefined,
}

/** Of those who have not shown a key where one is asked for. */
export const NO_ACCESS: Access = { ...OPEN_ACCESS, allows: () => false }

/** One within the service, who may ask for everything and stays until the deadline. */
export function askerUntil(deadlineMs: number): Asker {
  return { ...callerUntil(deadlineMs), access: OPEN_ACCESS }
}

/**
 * Refuses a recipient request of which only the members tell whether it asks for people or for how many.
 *
 * @throws ServiceError  Forbidden
 */
export function refuseScope(asker: Asker, countsOnly: boolean): void {
  const scope = countsOnly ? 'counts' : 'lists'
  if (asker.access.allows(scope)) return
  asker.lacksScope?.()
  const hint = countsOnly ? '' : '; with countsOnly, counts are enough'
  throw new ServiceError('Forbidden', `this key does not have the scope ${scope}${hint}`)
}
