/**
 * `npm run compare:postgis`: does PostGIS count the same recipients inside the same shapes?
 *
 * Both get the same recipients and the same vertices. PostGIS computes in doubles of degrees,
 * Hickory as if every coordinate were the decimal that was written, so they may differ about who
 * is exactly on an edge. Who is right about a difference is decided by the oracle, in exact
 * arithmetic. Exits with 1 if there is a difference, except where recipients are put on edges on
 * purpose: there, only if Hickory is wrong.
 *
 * @module
 */
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { prepare } from '../../test/oracle/geometry/exact.js'
import { integerOption } from '../harness/integer-option.js'
import { machineLine } from '../harness/machine.js'
import { parseOptions } from '../harness/parse-options.js'
import { formatCount, formatTable } from '../harness/table.js'
import { countOnShards } from '../micro/harness/ways.js'
import { buildWorld, type World } from '../micro/harness/world.js'
import { toHexEwkb } from './ewkb.js'
import { importOrder, Postgis, type PostgisTable } from './postgis.js'
import { makeGroups, type Subject, type SubjectGroup } from './postgis-subjects.js'

const USAGE = `npm run compare:postgis -- [options]
  --recipients N    recipients of the United States, 1000 or more (1000000)
  --shapes N        random shapes that are valid for PostGIS (1000)
  --seed S          of recipients and shapes (1)
  --help            prints this
`

interface Options {
  readonly recipientCount: number
  readonly shapeCount: number
  readonly seed: number
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) process.stdout.write(USAGE)
  else process.exitCode = await main(options)
} catch (error) {
  process.stderr.write(`compare: ${(error as Error).message}\n`)
  process.exitCode = 1
}

function readOptions(args: readonly string[]): Options | undefined {
  const values = parseOptions(
    args,
    {
      recipients: { type: 'string', default: '1000000' },
      shapes: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
    USAGE,
  )
  if (values.help) return undefined
  return {
    recipientCount: integerOption('recipients', values.recipients, 1_000, 200_000_000, USAGE),
    shapeCount: integerOption('shapes', values.shapes, 1, 1_000_000, USAGE),
    seed: integerOption('seed', values.seed, 0, 2 ** 32 - 1, USAGE),
  }
}

async function main({ recipientCount, shapeCount, seed }: Options): Promise<number> {
  if (process.env.PGHOST === undefined) {
    throw new Error('PGHOST is not set: eval "$(npm run --silent postgis:start)"')
  }
  const startedMs = performance.now()
  const world = buildWorld(recipientCount, seed)
  const postgis = await Postgis.connect()
  try {
    const table = await postgis.load(importOrder(world.columns))
    print(`machine  ${machineLine()}`)
    print(`data     ${formatCount(recipientCount)} synthetic recipients of the US, seed ${seed}`)
    print(`postgis  ${postgis.version}`)
    const outcomes: GroupOutcome[] = []
    for (const group of await makeGroups(world, shapeCount, (geometry) =>
      postgis.isValid(toHexEwkb(geometry)),
    )) {
      outcomes.push(await checkGroup(group, world, postgis, table))
    }
    print()
    print(formatTable(toTable(outcomes)))
    print(`${((performance.now() - startedMs) / 1000).toFixed(0)} s in all`)
    return outcomes.some(hasFailed) ? 1 : 0
  } finally {
    await postgis.close()
  }
}

interface GroupOutcome {
  readonly group: SubjectGroup
  readonly hitCount: number
  /** One for each shape that is counted differently. */
  readonly differences: readonly Difference[]
}

interface Difference {
  readonly hickory: number
  readonly postgis: number
  readonly exact: number
}

async function checkGroup(
  group: SubjectGroup,
  world: World,
  postgis: Postgis,
  table: PostgisTable,
): Promise<GroupOutcome> {
  const differences: Difference[] = []
  let hitCount = 0
  for (const { id, geometry } of group.subjects) {
    const hickory = countOnShards(world.shards, readDrawing(geometry, id).shapes)
    const counted = await postgis.countCovered(table, toHexEwkb(geometry))
    hitCount += hickory
    if (hickory === counted) continue
    const exact = countExactly(world.columns, geometry)
    differences.push({ hickory, postgis: counted, exact })
    print(`  ${id}: Hickory ${hickory}, PostGIS ${counted}, exactly ${exact}`)
  }
  return { group, hitCount, differences }
}

function hasFailed({ group, differences }: GroupOutcome): boolean {
  return group.isOnEdges
    ? differences.some(({ hickory, exact }) => hickory !== exact)
    : differences.length > 0
}

function countExactly(
  { recipientCount, lngs, lats }: RecipientColumns,
  geometry: Subject['geometry'],
): number {
  const members = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const prepared = prepare(members)
  let count = 0
  for (let row = 0; row < recipientCount; row++) {
    if (prepared.contains(lngs[row], lats[row])) count++
  }
  return count
}

function toTable(outcomes: readonly GroupOutcome[]) {
  return {
    title: 'differences',
    header: ['shapes', 'number', 'hits', 'differ', 'recipients', 'Hickory right', 'PostGIS right'],
    rows: outcomes.map(({ group, hitCount, differences }) => [
      group.title,
      formatCount(group.subjects.length),
      formatCount(hitCount),
      formatCount(differences.length),
      formatCount(sum(differences, ({ hickory, postgis }) => Math.abs(hickory - postgis))),
      formatCount(differences.filter(({ hickory, exact }) => hickory === exact).length),
      formatCount(differences.filter(({ postgis, exact }) => postgis === exact).length),
    ]),
  }
}

function sum<T>(items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((total, item) => total + measure(item), 0)
}

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}
