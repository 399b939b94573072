/**
 * What a scenario is given and what it gives back.
 *
 * @module
 */
import type { Rows } from '../../test/oracle/counties.js'
import type { KnownRequest } from '../harness/answers.js'
import type { Dataset } from '../harness/dataset.js'
import type { ServerProcess } from '../harness/processes.js'
import type { Table } from '../harness/table.js'
import type { LoadOptions } from '../options.js'

export interface Stage {
  /** One for all scenarios of a run. */
  readonly service: ServerProcess
  /** The same HTTP library with a constant answer: what no service could be faster than. */
  readonly echo: ServerProcess
  /** Drawn polygons, to be counted. */
  readonly counts: readonly KnownRequest[]
  /** Some of the same polygons, to be listed. */
  readonly lists: readonly KnownRequest[]
  readonly options: LoadOptions
  readonly signal: AbortSignal
  readonly dataset: Dataset
  /** What was imported, for brute force. */
  readonly rows: Rows
  /**
   * Starts a service for this scenario alone and waits until it is ready; it is stopped after the
   * run.
   *
   * @param flags  of `hickory serve`
   * @param dataDirectory  that of the dataset unless given
   */
  startService(flags?: readonly string[], dataDirectory?: string): Promise<ServerProcess>
  /** Starts one of the servers to compare with; it is stopped after the run. */
  startPeer(name: PeerName, args?: readonly string[]): Promise<ServerProcess>
}

/**
 * - `naive`: the same answers the way anyone would write it in an afternoon
 * - `ready-buffer`: the same HTTP library sending bytes that are there already; `--bytes N`
 * - `echo`: the same HTTP library with a constant answer
 */
export type PeerName = 'naive' | 'ready-buffer' | 'echo'

export interface Finding {
  readonly table: Table
  /** By name with its unit last, such as `countsPerSecond`; for the JSON file. */
  readonly figures: Readonly<Record<string, number>>
  /** Sentences about what should not have been; empty if all is well. */
  readonly faults: readonly string[]
}

export interface Scenario {
  readonly name: string
  /** What it asks, in one line. */
  readonly summary: string
  readonly run: (stage: Stage) => Promise<Finding>
}
