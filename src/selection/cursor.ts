/**
 * Cursors: the end of a page of a list, as text. A cursor is valid only for its own request, and only
 * while the answer would be the same list. It is no secret: a client that invents one gets another
 * page that it may ask for anyway.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.js'
import type { CountMode } from '../shard/select.js'
import { shapesHash } from './shapes-hash.js'
import type { Query } from './validate.js'

/** What a list follows from, to the last recipient and their order. */
export interface ListBasis {
  readonly query: Query
  readonly snapshotId: string
  /** That counts, whether the query says it or the configuration. */
  readonly countMode: CountMode
  /** Of the boundary that holds, whether the query asks for it or the service has it always. */
  readonly boundaryKey: string | undefined
}

/**
 * A place in the order of a snapshot at a moment: by shard, as the catalogue names it for cursors, then by
 * index. In cursors of lists within a boundary: by rank among those within, with 0 for the shard (page.ts).
 */
export interface Place {
  readonly placeId: number
  readonly recipient: number
  /** Of what came since the snapshot, how many batches of changes are in the list. */
  readonly moment: number
  /** Which batches these are (journal/batch.ts); 0 at moment 0. */
  readonly seal: number
}

/** @param next  where the next page begins: behind the last recipient that was given */
export function writeCursor(basis: ListBasis, next: Place): string {
  const { placeId, recipient, moment, seal } = next
  const bytes = Buffer.alloc(moment === 0 ? CURSOR.end : LATER_CURSOR_BYTES)
  bytes.writeUInt32BE(placeId, CURSOR.placeId)
  bytes.writeUInt32BE(recipient, CURSOR.recipient)
  stateOf(basis).copy(bytes, CURSOR.state)
  if (moment > 0) {
    bytes.writeUIntBE(moment, CURSOR.end, MOMENT_BYTES)
    bytes.writeUInt32BE(seal, CURSOR.end + MOMENT_BYTES)
  }
  sealOf(basis.query, bytes).copy(bytes, CURSOR.seal)
  return bytes.toString('base64url')
}

/**
 * Where the page begins.
 *
 * @throws ServiceError  InvalidRequest or CursorExpired
 */
export function readCursor(basis: ListBasis, cursor: string): Place {
  const bytes = Buffer.from(CURSORS.test(cursor) ? cursor : '', 'base64url')
  if (!partOf(bytes, 'seal').equals(sealOf(basis.query, bytes))) {
    throw new ServiceError('InvalidRequest', 'after is not a cursor of this request', 'after')
  }
  if (!partOf(bytes, 'state').equals(stateOf(basis))) {
    throw cursorExpired()
  }
  const isLater = bytes.length > CURSOR.end
  return {
    placeId: bytes.readUInt32BE(CURSOR.placeId),
    recipient: bytes.readUInt32BE(CURSOR.recipient),
    moment: isLater ? bytes.readUIntBE(CURSOR.end, MOMENT_BYTES) : 0,
    seal: isLater ? bytes.readUInt32BE(CURSOR.end + MOMENT_BYTES) : 0,
  }
}

export function cursorExpired(): ServiceError {
  const message = 'the recipients have changed; start again without after'
  return new ServiceError('CursorExpired', message, 'after')
}

/** Where each part begins, in bytes: a place, of what (digest), and of whose (digest). */
const CURSOR = { placeId: 0, recipient: 4, state: 8, seal: 16, end: 30 } as const

/** Of a list of a later moment than the snapshot's, behind these parts. */
const MOMENT_BYTES = 5
const LATER_CURSOR_BYTES = CURSOR.end + MOMENT_BYTES + 4

/** Rises with the meaning of the parts, so that cursors of an earlier form are none. */
const CURSOR_VERSION = 2

/** Without spare bits, so that no two texts are the same cursor. */
const CURSORS = /^(?:[\w-]{40}|[\w-]{52})$/

function partOf(bytes: Buffer, part: 'state' | 'seal'): Buffer {
  return bytes.subarray(CURSOR[part], part === 'state' ? CURSOR.seal : CURSOR.end)
}

function stateOf({ snapshotId, countMode, boundaryKey }: ListBasis): Buffer {
  // Cursors of earlier releases had other places within a boundary.
  const within = boundaryKey === undefined ? [] : [boundaryKey, 'ranks']
  const parts = [snapshotId, countMode, ...within]
  const digest = createHash('sha256').update(parts.join(' ')).digest()
  return digest.subarray(0, CURSOR.seal - CURSOR.state)
}

/** Of all that a query selects by, and of the other parts, so that a damaged cursor is none. */
function sealOf(query: Query, bytes: Buffer): Buffer {
  const { shapes, sourceIds, countMode, isDistinct, clipToBoundary } = query
  const about = {
    version: CURSOR_VERSION,
    sourceIds,
    countMode,
    isDistinct,
    // Left out unless it is asked for, so that older cursors of all other requests are valid.
    clipToBoundary: clipToBoundary || undefined,
  }
  const digest = shapesHash(shapes, about)
    .update(bytes.subarray(0, CURSOR.seal))
    .update(bytes.subarray(CURSOR.end))
    .digest()
  return digest.subarray(0, CURSOR.end - CURSOR.seal)
}
