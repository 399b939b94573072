/**
 * What the machines of a cluster have in common beside recipients, as entries of the journal: one value of MessagePack
 * each (docs/cluster-format.md).
 *
 * @module
 */
import type { AnnouncedAudience } from '../store/audiences.js'
import type { Change } from '../store/changes.js'
import type { Scope } from '../store/suppressions.js'
import { pack, unpackOrNothing } from './nats/parts.js'
import type { AnnouncedSnapshot } from './snapshot-files.js'

export type Entry =
  /** This machine answers from here on. */
  | ({ readonly kind: 'joined' } & Member)
  /** This one does no more. */
  | { readonly kind: 'left'; readonly name: string }
  /**
   * This snapshot is to be served, and is to be had by the digests of its documents. It counts if `base` is the last one
   * that was announced: of two that go on from the same one, the first.
   */
  | ({ readonly kind: 'snapshot'; readonly base?: string; readonly by: string } & AnnouncedSnapshot)
  /** It is served from here on if it is the last one that was announced, and others need stay no longer than this says. */
  | ({ readonly kind: 'switch'; readonly id: string } & Retention)
  /** Machines say what they have here, for whoever compares them: see `comparison.ts`. */
  | { readonly kind: 'comparison'; readonly salt: string }
  | StoreEntry

/** What stays of snapshots and of the journal when all machines have switched to a snapshot. */
export interface Retention {
  /** Imports whose snapshots stay without being pinned. */
  readonly importCount: number
  /** No snapshot needs this batch of the journal, or one before; 0 where that cannot be told. */
  readonly unneededSequence: number
}

/** A machine whose answers count. */
export interface Member {
  readonly name: string
  /** Of its data directory: another one with the same name has another one. */
  readonly incarnation: string
  /** For so long it may answer that does not hear from the log. */
  readonly maxLagMs: number
}

/** What tells a machine from another one of its name. */
export function identityOf({ name, incarnation }: Pick<Member, 'name' | 'incarnation'>): string {
  return `${name} ${incarnation}`
}

export const nameIn = (identity: string): string => identity.split(' ', 1)[0]

/** What changes the store; what becomes of it follows from what is there, on each machine alike. */
export type StoreEntry =
  | { readonly kind: 'document'; readonly change: SharedChange }
  | {
      readonly kind: 'suppressions'
      readonly scope: Scope
      readonly phones: readonly string[]
      readonly isRemoval: boolean
    }
  /** Records by id, null to remove one; made of the keys at a version, and of no others. */
  | {
      readonly kind: 'keys'
      readonly version: number
      readonly records: readonly (readonly [id: string, record: string | null])[]
    }
  /** This audience is there, and is to be had by the digests of its file and of the documents of its snapshot. */
  | { readonly kind: 'audience'; readonly audience: AnnouncedAudience }
  | { readonly kind: 'deleteAudience'; readonly id: string }

/** Counts are of each machine. */
type SharedChange = Exclude<Change, { kind: 'counts' }>

export const encodeEntry = (entry: Entry): Uint8Array => pack(entry)

/** Undefined of one that this version does not know. */
export function decodeEntry(content: Uint8Array): Entry | undefined {
  const entry = unpackOrNothing(content) as Entry | undefined
  return entry !== undefined && KINDS.has(entry?.kind) ? entry : undefined
}

const kinds: Readonly<Record<Entry['kind'], true>> = {
  joined: true,
  left: true,
  snapshot: true,
  switch: true,
  comparison: true,
  document: true,
  suppressions: true,
  keys: true,
  audience: true,
  deleteAudience: true,
}

const KINDS: ReadonlySet<string> = new Set(Object.keys(kinds))
