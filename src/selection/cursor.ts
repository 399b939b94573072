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
 * A place in the order of a snapshot: by shard, then by index. In cursors of lists within a boundary: by
 * rank among those within, with 0 for the shard (page.ts).
 */
export interface Place {
  readonly shardIndex: number
  readonly recipient: number
}

/** @param next  where the next page begins: behind the last recipient that was given */
export function writeCursor(basis: ListBasis, next: Place): string {
  const bytes = Buffer.alloc(CURSOR.end)
  bytes.writeUInt32BE(next.shardIndex, CURSOR.shardIndex)
  bytes.writeUInt32BE(next.recipient, CURSOR.recipient)
  stateOf(basis).copy(bytes, CURSOR.state)
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
    const message = 'the recipients have changed; start again without after'
    throw new ServiceError('CursorExpired', message, 'after')
  }
  return {
    shardIndex: bytes.readUInt32BE(CURSOR.shardIndex),
    recipient: bytes.readUInt32BE(CURSOR.recipient),
  }
}

/** Where each part begins, in bytes: a place, of what (digest), and of whose (digest). */
const CURSOR = { shardIndex: 0, recipient: 4, state: 8, seal: 16, end: 30 } as const

/** Rises with the meaning of the parts, so that cursors of an earlier form are none. */
const CURSOR_VERSION = 2

/** Without spare bits, so that no two texts are the same cursor. */
const CURSORS = /^[\w-]{40}$/

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
  const digest = shapesHash(shapes, about).update(bytes.subarray(0, CURSOR.seal)).digest()
  return digest.subarray(0, CURSOR.end - CURSOR.seal)
}
