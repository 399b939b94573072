/**
 * What is said of an operation.
 *
 * @module
 */
import type { TSchema } from '#typebox'
import type { Examples } from './examples.js'
import type { KeyScope } from './key-scopes.js'

type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Operation {
  /** The purpose, in a few words. */
  readonly summary: string
  /** Everything that a caller has to know beyond the members. */
  readonly description: string
  /** The verb of its paths. */
  readonly verb: Verb
  /** Segments in braces are members of the request. */
  readonly paths: readonly string[]
  /** Whether it changes what is stored: not allowed to everybody, and never by a verb that reads. */
  readonly isWrite: boolean
  /** A key must have one of them. What a recipient request asks for decides which. */
  readonly scopes: readonly KeyScope[]
  /** Of a DELETE: whether its members may also come in a body, since they may be many. */
  readonly hasBody?: boolean
  readonly request: TSchema
  /** The member whose items may also be all of the body, as lines of NDJSON. */
  readonly linesMember?: string
  /** The member that may also come in the header Idempotency-Key. */
  readonly idempotencyMember?: string
  /** Undefined where there is nothing to say. */
  readonly response: TSchema | undefined
  /**
   * Columns of its table. Where this is left out, they are the members of the first list in the
   * response, one row an item.
   */
  readonly csvColumns?: readonly string[]
  /** Whether its answer has shapes or places, and so a form in GeoJSON. */
  readonly hasFeatures?: boolean
  /** Whether its answer has an ETag, so that a client may ask whether it is still the same. */
  readonly hasTag?: boolean
  readonly examples: Examples
}
