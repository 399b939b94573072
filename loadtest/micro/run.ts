/**
 * `npm run bench`: the inner loops, one question each, in one thread of one process.
 *
 *   npm run bench -- [--recipients N] [--seed S] [--only drawn|counties|encode]
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { machineLine } from '../machine.js'
import { formatCount, formatTable, type Table } from '../table.js'
import { measureCounties } from './counties.js'
import { measureDrawn } from './drawn.js'
import { measureEncode } from './encode.js'
import { fullPlan, naivePlan, sinkTotal } from './measure.js'
import { buildWorld, type World } from './world.js'

const questions: Readonly<Record<string, (world: World) => Table>> = {
  drawn: measureDrawn,
  counties: measureCounties,
  encode: measureEncode,
}

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
})
const names = Object.keys(questions)
if (values.only !== undefined && !names.includes(values.only)) {
  throw new Error(`--only is one of ${names.join(', ')}`)
}

const startedMs = performance.now()
const world = buildWorld(Number(values.recipients), Number(values.seed))
print(`machine  ${machineLine()}`)
print(
  `data     ${formatCount(world.columns.recipientCount)} synthetic recipients of the US, ` +
    `seed ${world.seed}, ${world.shards.length} shard(s), one thread`,
)
print(
  `method   a pass of each way compares the counts; then ${fullPlan.warmUpCount} passes of ` +
    `warm-up (${naivePlan.warmUpCount} of the naive way), then the passes that are timed`,
)
print()
for (const name of names) {
  if (values.only === undefined || values.only === name) print(formatTable(questions[name](world)))
}
print(`sink ${sinkTotal()}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s in all`)

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}
