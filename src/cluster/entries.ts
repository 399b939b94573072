/**
 * What the machines of a cluster have in common beside recipients, as entries of the journal: one value of MessagePack
 * each (docs/cluster-format.md).
 *
 * @module
 */
import type { AnnouncedAudience } from '../store/audiences.js'
import type { Change } from '../store/changes.js'
import type { Scope } from '../store/suppressions.js'
import type { Member } from './agreement/messages.js'
import { pack, unpackOrNothing } from './nats/packing.js'
import type { Retention } from './retention.js'
import type { AnnouncedSnapshot } from './snapshot-files.js'

export type Entry =
  /** A machine writes from here on. */
  | { readonly kind: 'epoch'; readonly epoch: number; readonly name: string }
  /** These are the machines whose disks count from here on. */
  | { readonly kind: 'members'; readonly members: readonly Member[] }
  /** This snapshot is to be served, and is to be had by the digests of its documents. */
  | ({ readonly kind: 'snapshot' } & AnnouncedSnapshot)
  /** It is served from here on, and others need stay no longer than on the machine that writes. */
  | ({ readonly kind: 'switch'; readonly id: string } & Retention)
  /** Machines say what they have here, for whoever compares them: see `salted-digests.ts`. */
  | { readonly kind: 'comparison'; readonly salt: string }
  | StoreEntry

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
  epoch: true,
  members: true,
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
