/**
 * What a scenario is given and what it gives back.
 *
 * @module
 */
import type { KnownRequest } from '../answers.js'
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
}

export interface Finding {
  readonly table: Table
  /** Sentences about what should not have been; empty if all is well. */
  readonly faults: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly run: (stage: Stage) => Promise<Finding>
}
