/**
 * What the main thread and the thread that sets marks say to each other.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { PhoneHits } from '../store/change-port.js'
import type { Scope } from '../store/suppressions.js'
import type { CaughtUp } from './marker.js'
import type { Progress } from './progress.js'

/** What the thread is born with. */
export interface MarksThreadData {
  readonly dataDirectory: string
  readonly progress: Progress
  /** What the changes of this process are logged under. */
  readonly ownName: string
  /** Where all threads count. */
  readonly metrics: MetricsMemory
}

/** To the thread. Each but the last two is answered by `done`, with its ticket. */
export type MarksOrder =
  /** Set the marks of a snapshot, and keep them right from then on. */
  | { readonly kind: 'attach'; readonly ticket: number; readonly snapshot: Snapshot }
  /** Touch its memory no more. */
  | { readonly kind: 'detach'; readonly ticket: number; readonly snapshotId: string }
  /** Catch up with the store, and say which recipients of a snapshot have these phones. */
  | {
      readonly kind: 'take'
      readonly ticket: number
      readonly snapshotId: string
      readonly scope: Scope
      readonly phones: readonly string[]
    }
  /** Set the marks of those who come to a snapshot, see changed-recipients.ts. Has no ticket. */
  | { readonly kind: 'follow'; readonly port: MessagePort }
  | { readonly kind: 'stop' }

/** From the thread. */
export type MarksReport =
  | { readonly kind: 'done'; readonly ticket: number; readonly hits: PhoneHits }
  | ({ readonly kind: 'caughtUp' } & CaughtUp)
