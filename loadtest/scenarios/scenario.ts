/**
 * What a scenario is given and what it gives back.
 *
 * @module
 */
import type { Rows } from '../../test/oracle/counties.js'
import type { KnownRequest } from '../answers.js'
import type { Dataset } from '../dataset.js'
import type { LoadOptions } from '../options.js'
import type { ServerProcess } from '../processes.js'
import type { Table } from '../table.js'

export interface Stage {
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
  /** What was imported. */
  readonly rows: Rows
  /** Another service, ready and ended with the run at the latest; on the same data unless said. */
  readonly startService: (
    flags?: readonly string[],
    dataDirectory?: string,
  ) => Promise<ServerProcess>
  /** A script of `peers/`. */
  readonly startPeer: (name: string, args?: readonly string[]) => Promise<ServerProcess>
}

export interface Finding {
  readonly table: Table
  /** By name, the unit last. */
  readonly figures: Readonly<Record<string, number>>
  /** Sentences about what should not have been; empty if all is well. */
  readonly faults: readonly string[]
}

export interface Scenario {
  readonly name: string
  /** What it asks, in a line. */
  readonly summary: string
  readonly run: (stage: Stage) => Promise<Finding>
}
