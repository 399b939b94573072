/**
 * What a question is given, and how it answers.
 *
 * @module
 */
import type { Postgis, PostgisTable } from '../../peers/postgis.js'
import type { Finding } from './compare.js'
import type { NaiveIndex } from './naive.js'
import type { World } from './world.js'

export interface Stage {
  readonly world: World
  /** Of all recipients; built by the first question that wants it. */
  readonly naiveIndex: () => NaiveIndex
  /** The same recipients in PostGIS; undefined without a server. */
  readonly database: Database | undefined
}

export interface Database {
  readonly postgis: Postgis
  readonly table: PostgisTable
}

/** One finding a table. */
export type Question = (stage: Stage) => Promise<Finding[]>
