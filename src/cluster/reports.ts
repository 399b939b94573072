/**
 * What machines of a cluster tell one another of themselves: at an interval, and at once when something changes.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import type { LogPlace } from '../journal/head.js'
import { limits } from '../limits.js'
import type { Holding } from '../snapshot/snapshot.js'
import type { ServedSnapshots } from './messages.js'

/** As it travels. */
export interface NodeReport {
  readonly name: string
  /** Of its data directory. */
  readonly incarnation: string
  readonly version: string
  /** Of its process. */
  readonly session: string
  /** The log that it follows, and how far. */
  readonly log: LogPlace
  /** The last batch in its journal. */
  readonly last: Link
  /** The last batch on its disk, which the log may not have said again since the power failed. */
  readonly kept: Link
  /** Up to here it answers by all entries of the store. */
  readonly storedBy: number
  /** Up to here it answers by all, also by changes of recipients. */
  readonly answersBy: number
  /** Until it is level no more. */
  readonly levelMs: number
  /** Why it does not go on with the cluster. */
  readonly fault?: string | undefined
  /** The same in a word, where the log is the reason. */
  readonly faultKind?: string | undefined
  /** Whether it is not ready because an operator says so. */
  readonly isDraining: boolean
  /** The snapshot that is served, and one that is ready to be. */
  readonly snapshotId: string | undefined
  readonly preparedId: string | undefined
  /** Of the snapshot that is served; left out by a version that does not say, and before there is one. */
  readonly held?: Holding | undefined
  /** Left out by a version that shares none, and before a machine knows of any. */
  readonly audiences?: AudienceFiles | undefined
}

/** Of which audiences a machine has the files. */
export interface AudienceFiles {
  /** Of those that entries up to here have announced, */
  readonly upTo: number
  /** but for those that these entries have. */
  readonly lacking: readonly number[]
}

/** Whether a machine has the files of the audience that an entry has announced. */
export function hasFilesOf(files: AudienceFiles | undefined, entrySequence: number): boolean {
  return (
    files !== undefined && files.upTo >= entrySequence && !files.lacking.includes(entrySequence)
  )
}

/** What the service of this machine says. */
interface Serving {
  readonly answersBy: number
  readonly storedBy: number
  readonly served: ServedSnapshots | undefined
  readonly isDraining: boolean
}

/** The rest of a report. */
export type KnownReport = Omit<
  NodeReport,
  'storedBy' | 'answersBy' | 'isDraining' | 'snapshotId' | 'preparedId' | 'held'
>

interface ReportOptions {
  readonly known: () => KnownReport
  readonly tell: (report: NodeReport) => void
}

/** What this machine tells. */
export class OwnReports {
  readonly #options: ReportOptions
  #serving: Serving = { answersBy: 0, storedBy: 0, served: undefined, isDraining: false }
  #isDue = false

  constructor(options: ReportOptions) {
    this.#options = options
  }

  get serving(): Serving {
    return this.#serving
  }

  serves(changed: Partial<Serving>): void {
    this.#serving = { ...this.#serving, ...changed }
    this.tellSoon()
  }

  now(): NodeReport {
    const { served, ...serving } = this.#serving
    const { servedId: snapshotId, preparedId, held } = served ?? {}
    return { ...this.#options.known(), ...serving, snapshotId, preparedId, held }
  }

  tell(): void {
    this.#isDue = false
    this.#options.tell(this.now())
  }

  /** At once, with all that changes in the same turn. */
  tellSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      if (this.#isDue) this.tell()
    })
  }
}

interface Heard {
  readonly report: NodeReport
  readonly atMs: number
}

/** The last report of each other machine, and when it came. */
export class NodeReports {
  readonly #nowMs: () => number
  readonly #byName = new Map<string, Heard>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  note(report: NodeReport): void {
    this.#byName.set(report.name, { report, atMs: this.#nowMs() })
  }

  of(name: string): NodeReport | undefined {
    return this.#byName.get(name)?.report
  }

  /** By name. */
  all(): { readonly report: NodeReport; readonly silentMs: number }[] {
    const nowMs = this.#nowMs()
    return [...this.#byName.values()]
      .map(({ report, atMs }) => ({ report, silentMs: nowMs - atMs }))
      .sort((a, b) => (a.report.name < b.report.name ? -1 : 1))
  }

  /** The last report of each machine that has told anything lately. */
  ofThoseThere(): NodeReport[] {
    return this.all().flatMap(({ report, silentMs }) =>
      silentMs < limits.clusterSilenceMs ? report : [],
    )
  }
}
