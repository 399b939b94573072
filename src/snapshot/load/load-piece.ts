/**
 * The work of loading a snapshot, in pieces that any thread can carry out: a file each.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import type { Room } from '../../shard/arena.js'
import {
  findRepeats,
  type Repeats,
  type ShardRepeats,
} from '../../shard/duplicates/find-repeats.js'
import { lookHere } from '../../shard/duplicates/shard-look.js'
import { attachShard, type ShardImage, withoutColumns } from '../../shard/layout.js'
import {
  type ContactUse,
  noteContacts,
  type SharedContacts,
  tieContacts,
} from '../../shard/ties/contact-use.js'
import type { RankedSet } from '../../shard/ties/ranked-set.js'
import { tiePhones } from '../../shard/ties/ties.js'
import { type RepeatsHead, readRepeatsImage, sharedRepeats } from '../duplicates/image.js'
import type { OnRead } from '../format/blocks.js'
import { readShardImage, type ShardHead } from '../format/shard-image.js'
import { withFile } from '../open-file.js'
import { type AlonePiece, loadAlone } from './load-alone.js'

export interface ShardPiece {
  readonly kind: 'shard'
  readonly path: string
  readonly byteLength: number
  readonly head: ShardHead
  /** Contacts of the source. */
  readonly contactCount: number
  readonly room: Room
}

/** A shard that another machine holds: all but its contacts is verified and forgotten. */
interface ElsewherePiece extends AlonePiece {
  readonly kind: 'elsewhere'
}

export interface Elsewhere {
  /** Without columns. */
  readonly shard: ShardImage
  /** In shared memory. */
  readonly contacts: Uint32Array
}

/** Some shards of a source. */
interface NotePiece {
  readonly kind: 'note'
  readonly columns: readonly Uint32Array[]
  /** Of the source. */
  readonly contactCount: number
}

/** A shard of a source whose contacts were all noted, and of a snapshot whose repeats are known. */
interface TiePiece {
  readonly kind: 'tie'
  /** Give way to the ids of those with several recipients. */
  readonly contacts: Uint32Array
  readonly sharedContacts: SharedContacts
  readonly byContact: RankedSet
  readonly repeats: ShardRepeats
  readonly byPhone: RankedSet
}

export type RepeatsPiece =
  | {
      readonly kind: 'repeats'
      readonly path: string
      readonly byteLength: number
      readonly head: RepeatsHead
      /** Recipients of each shard. */
      readonly shardCounts: readonly number[]
      readonly room: Room
    }
  /** For snapshots of format version 1, which do not say what repeats. */
  | { readonly kind: 'findRepeats'; readonly shards: readonly ShardImage[] }

export type LoadPiece = ShardPiece | ElsewherePiece | RepeatsPiece | NotePiece | TiePiece

/** Carries out pieces, here or on other threads. */
export interface LoadRunner {
  /** Pieces that are carried out at the same time. */
  readonly threadCount: number
  loadShard(piece: ShardPiece): Promise<ShardImage>
  loadElsewhere(piece: ElsewherePiece): Promise<Elsewhere>
  loadRepeats(piece: RepeatsPiece): Promise<Repeats>
  note(piece: NotePiece): Promise<ContactUse>
  /** Returns how many recipients are tied by their contact. */
  tie(piece: TiePiece): Promise<number>
  /** Gives up what is under way; when it resolves, no thread touches the rooms any more. */
  close(): Promise<void>
}

/** @throws OperatorError `SnapshotCorrupt` */
export function loadShard(piece: ShardPiece, onRead: OnRead): Promise<ShardImage> {
  const { path, byteLength, head, contactCount, room } = piece
  return withFile(path, byteLength, (file) =>
    readShardImage(file, head, contactCount, room, onRead),
  )
}

/** @throws OperatorError `SnapshotCorrupt` */
export async function loadElsewhere(piece: ElsewherePiece, onRead: OnRead): Promise<Elsewhere> {
  const image = await loadAlone(piece, onRead)
  const { contacts } = attachShard(image)
  const shared = new Uint32Array(new SharedArrayBuffer(contacts.byteLength))
  shared.set(contacts)
  return { shard: withoutColumns(image), contacts: shared }
}

export function note({ columns, contactCount }: NotePiece): ContactUse {
  return noteContacts(columns, contactCount)
}

export function tie(piece: TiePiece): number {
  const { contacts, sharedContacts, byContact, repeats, byPhone } = piece
  if (repeats.recipients.length > 0) tiePhones(repeats, byPhone)
  return tieContacts(sharedContacts, contacts, byContact, contacts)
}

/** @throws OperatorError `SnapshotCorrupt` */
export async function loadRepeats(piece: RepeatsPiece, onRead: OnRead): Promise<Repeats> {
  if (piece.kind === 'repeats') {
    const { path, byteLength, head, shardCounts, room } = piece
    return await withFile(path, byteLength, (file) =>
      readRepeatsImage(file, head, shardCounts, room, onRead),
    )
  }
  const look = lookHere((at) => {
    onRead(0)
    return attachShard(piece.shards[at])
  })
  const shardCounts = piece.shards.map(({ recipientCount }) => recipientCount)
  return sharedRepeats(await findRepeats(shardCounts, look))
}

/** One piece after the other, on this thread. */
export function runHere(onRead: OnRead, stopping?: AbortSignal): LoadRunner {
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const onPiece = (pieceBytes: number) => {
    if (isClosed || stopping?.aborted) throw givenUp()
    onRead(pieceBytes)
  }
  const next = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(() => {
      onPiece(0)
      return work()
    })
    last = result.catch(() => {})
    return result
  }
  return {
    threadCount: 1,
    loadShard: (piece) => next(() => loadShard(piece, onPiece)),
    loadElsewhere: (piece) => next(() => loadElsewhere(piece, onPiece)),
    loadRepeats: (piece) => next(() => loadRepeats(piece, onPiece)),
    note: (piece) => next(async () => note(piece)),
    tie: (piece) => next(async () => tie(piece)),
    async close() {
      isClosed = true
      await last
    },
  }
}

export function givenUp(): OperatorError {
  return new OperatorError('Failed', 'loading was given up')
}
