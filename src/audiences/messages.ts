/**
 * The messages between a front thread and its audience thread. All are plain data.
 *
 * @module
 */
import type { ServiceErrorCode } from '../errors.js'
import type { RowFormat } from '../shard/rows/row-format.js'
import type { AudienceName } from '../snapshot/retention/audience-names.js'
import type { MadeAudience } from '../store/audiences.js'
import type { AudienceShard } from './file.js'

/** The data that an audience thread starts with. */
export interface AudienceThreadData {
  readonly dataDirectory: string
  /** Whether the store says which audiences there are, and not the disk. */
  readonly isShared: boolean
}

/** Whose request it is: an audience is there for the key that made it. */
export interface AudienceAsker {
  /** Null where no key is asked for. */
  readonly keyName: string | null
  readonly boundaryDigest: string | null
  /** Whether it may use those of others, too. */
  readonly isForAll: boolean
}

/** Who is frozen. */
export interface FreezeOrder {
  readonly kind: 'freeze'
  readonly snapshotId: string
  /** Up to which batch of the journal changes are in the selection. */
  readonly sequence: number
  readonly sources: readonly { readonly id: number; readonly label: string }[]
  /** By ascending index of the shard in its snapshot. */
  readonly shards: readonly { readonly shardIndex: number; readonly runs: Uint32Array }[]
  /** Who came since the snapshot, by ascending id of the source; sources without anybody are left out. */
  readonly deltas: readonly DeltaRows[]
  /** Whoever was suppressed by then is in none of the runs. */
  readonly suppressionVersion: number
  readonly lifetimeSeconds: number
  readonly asker: AudienceAsker
}

export interface DeltaRows {
  readonly sourceId: number
  /** In the order of the list, as shard/rows/binary-rows.ts has them. */
  readonly rows: Uint8Array
}

/** A part of the list of an audience. */
export interface OpenOrder {
  readonly kind: 'open'
  readonly id: string
  /** How many places of the frozen list are passed over. */
  readonly after: number
  /** How many recipients are given at most; infinite where there is no bound. */
  readonly limit: number
  readonly asker: AudienceAsker
}

/** A shard file that rows are read from. */
export type ShardPlace = Pick<AudienceShard, 'file' | 'byteLength' | 'headerCrc32'> & {
  readonly snapshotId: string
}

/** The delta of a source in the file of an audience. */
export interface DeltaPlace {
  readonly audience: AudienceName
  readonly sourceId: number
}

export type RowsPlace = ShardPlace | DeltaPlace

interface RowsOrder<Kind extends string> {
  readonly kind: Kind
  readonly place: RowsPlace
  readonly runs: Uint32Array
  readonly format: RowFormat
}

export type AudienceOrder =
  | FreezeOrder
  | OpenOrder
  | { readonly kind: 'list'; readonly asker: AudienceAsker }
  /** Where the store says which audiences there are, this only finds out whether the asker may do so. */
  | { readonly kind: 'remove'; readonly id: string; readonly asker: AudienceAsker }
  /** What others are to be told of one that was frozen here. */
  | { readonly kind: 'describe'; readonly id: string }
  | RowsOrder<'encode'>
  | RowsOrder<'rowBytes'>

/** What an audience is, without anybody in it. */
export type AudienceFacts = Pick<
  MadeAudience,
  | 'id'
  | 'snapshotId'
  | 'sequence'
  | 'createdMs'
  | 'expiresMs'
  | 'digest'
  | 'recipientCount'
  | 'sources'
>

export interface OpenedAudience {
  readonly facts: AudienceFacts
  /** Of each source, in their order, how many of the frozen ones are suppressed now. */
  readonly suppressedCounts: readonly number[]
  /** Who is on the page and not suppressed. */
  readonly shards: readonly OpenedShard[]
  /** Where the next page begins; undefined where nobody follows. */
  readonly next: number | undefined
}

export interface OpenedShard {
  readonly sourceId: number
  readonly place: RowsPlace
  readonly runs: Uint32Array
}

/** The answers, by the kind of the order. */
export interface AudienceAnswers {
  readonly freeze: AudienceFacts
  readonly open: OpenedAudience
  readonly list: readonly AudienceFacts[]
  readonly remove: AudienceFacts | undefined
  readonly describe: MadeAudience | undefined
  readonly encode: { readonly rowCount: number; readonly bytes: Uint8Array }
  readonly rowBytes: number
}

/** What a front thread calls. */
export interface AudienceCalls {
  /** @throws ServiceError */
  carryOut(order: AudienceOrder): Promise<AudienceAnswers[AudienceOrder['kind']]>
  /** Ends the thread when what it works on is done. */
  stop(): Promise<void>
}

/** What the thread calls. */
export interface AudienceNews {
  /** For the log of the service: why an order was refused. */
  failed(code: ServiceErrorCode, message: string, reason: string): void
}
