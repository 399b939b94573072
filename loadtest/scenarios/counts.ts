/**
 * How many requests a second for the number of people inside a drawn polygon?
 *
 * @module
 */
import { compareWithEcho } from './against-echo.js'
import type { Scenario } from './scenario.js'

export const counts: Scenario = {
  name: 'counts',
  summary: 'counts of drawn polygons',
  run: (stage) => compareWithEcho('counts of drawn polygons', stage, stage.counts),
}
