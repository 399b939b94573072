/**
 * Disturbs imports in every way: kills them at every system call that changes something, and at
 * random times; has every call fail; fills the disk. Kills compactions in the same way.
 *
 *   node dist/test/faults/run.js [--seed S] [--calls N] [--random-kills N] [--only kills|random|failures|full|compactions]
 *
 * With --calls N, each part tries at most so many of its calls, which the seed draws. What is
 * found wrong is printed as it is found, with the call; the exit code is then 1.
 *
 * @module
 */
import { join } from 'node:path'
import { type Random, seededRandom } from '../support/random/world.js'
import { readOptions } from '../support/read-options.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import {
  compactionCalls,
  killCompactionAt,
  killCompactionsAtRandom,
  prepareCompaction,
} from './compaction.js'
import { failAt, failuresOf } from './errors.js'
import { fillDisk, fillFiles, mountSmallDisk } from './full-disk.js'
import { killAt, killPoints } from './kill.js'
import { killAtRandom, type RandomKills } from './random-kills.js'
import { findFaults } from './run-some.js'
import { prepareStage, type Stage } from './stage.js'
import { assertStrace } from './trace.js'

/** What an import does also where it can link, apart from copying. */
const LINKING = /^(link|read|write|open|close|mkdir|rename|unlink|rmdir|getdents|statfs|utime)/

const parts = {
  kills: killEverywhere,
  random: killByChance,
  failures: failEverywhere,
  full: fill,
  compactions: killCompactions,
} as const

interface Run {
  readonly stage: Stage
  readonly directory: string
  readonly seed: number
  readonly randomKillCount: number
  /** As many as were asked for, if there are more. */
  drawn<T>(calls: readonly T[]): readonly T[]
}

const ends: (() => unknown)[] = []
let faultCount = 0
try {
  await main()
} finally {
  for (const end of ends.reverse()) await end()
}

async function main(): Promise<void> {
  const values = readOptions('node dist/test/faults/run.js', {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    calls: { type: 'string', default: '1000000' },
    'random-kills': { type: 'string', default: '300' },
    only: { type: 'string' },
  })
  if (values.only !== undefined && !Object.hasOwn(parts, values.only)) {
    throw new Error(`--only is one of ${Object.keys(parts).join(', ')}`)
  }
  assertStrace()
  const directory = temporaryDirectory({ teardown: (end) => void ends.push(end) })
  const stage = await prepareStage(directory)
  const seed = Number(values.seed)
  const random = seededRandom(seed)
  const run: Run = {
    stage,
    directory,
    seed,
    randomKillCount: Number(values['random-kills']),
    drawn: (calls) => some(calls, Number(values.calls), random),
  }
  for (const [name, part] of Object.entries(parts)) {
    if (values.only === undefined || values.only === name) await part(run)
  }
  say(`${faultCount} faults (seed ${seed})`)
  process.exitCode = faultCount === 0 ? 0 : 1
}

function some<T>(all: readonly T[], count: number, random: Random): readonly T[] {
  const keyed = all.map((one) => ({ one, key: random.unit() }))
  const sorted = keyed.sort((left, right) => left.key - right.key)
  return sorted.slice(0, count).map(({ one }) => one)
}

async function killEverywhere({ stage, drawn }: Run): Promise<void> {
  const all = await killPoints(stage)
  const points = drawn(all)
  const tally = new Map<string, number>()
  await findFaults(points, async ({ scenario, call }) => {
    note(await killAt(scenario, call))
    tally.set(call.syscall, (tally.get(call.syscall) ?? 0) + 1)
    return undefined
  })
  for (const [syscall, count] of [...tally].sort()) say(`killed at ${syscall}: ${count}`)
  say(`killed at a call: ${points.length} of ${all.length}`)
}

async function killByChance({ stage, seed, randomKillCount }: Run): Promise<void> {
  const count = Math.ceil(randomKillCount / 2)
  const lanes = [seed, seed + 1].map((own) => killAtRandom(stage, count, seededRandom(own)))
  const kills = await Promise.all(lanes)
  for (const { fault } of kills) note(fault)
  const sum = (of: (kills: RandomKills) => number) => kills.reduce((all, one) => all + of(one), 0)
  say(
    `killed at random: ${sum(({ killedCount }) => killedCount)} (seed ${seed}), ` +
      `${sum(({ switchedCount }) => switchedCount)} of them with the new snapshot current; ` +
      `${sum(({ finishedCount }) => finishedCount)} were faster`,
  )
}

async function failEverywhere({ stage: { replace, copies }, drawn }: Run): Promise<void> {
  const tally = new Map<string, number>()
  for (const scenario of [replace, copies]) {
    const failures = await failuresOf(scenario)
    // Links fail in that scenario as it is; what else it has is not done again.
    const own =
      scenario === copies ? failures.filter(({ syscall }) => !LINKING.test(syscall)) : failures
    await findFaults(drawn(own), async (failure) => {
      note(await failAt(scenario, failure))
      const kind = `${failure.syscall}, ${failure.effect}`
      tally.set(kind, (tally.get(kind) ?? 0) + 1)
      return undefined
    })
  }
  for (const [kind, count] of [...tally].sort()) say(`failed: ${kind}: ${count}`)
}

async function fill({ stage: { replace }, directory }: Run): Promise<void> {
  const blockCounts = [1, 4, 8, 12, 20, 28, 36]
  await findFaults(blockCounts, async (blockCount) => {
    note(await fillFiles(replace, blockCount))
    return undefined
  })
  say(`files cut short: ${blockCounts.length}`)
  const disk = mountSmallDisk(join(directory, 'disk'))
  if (disk === undefined) {
    say('disk full: left out, mounting a disk in memory takes root')
    return
  }
  ends.push(disk.remove)
  const leftBytes = [0, 4_096, 8_192, 16_384, 32_768, 49_152]
  for (const bytes of leftBytes) note(await fillDisk(replace, join(directory, 'disk'), bytes))
  say(`disk full: ${leftBytes.length}`)
}

async function killCompactions({ directory, seed, randomKillCount, drawn }: Run): Promise<void> {
  const stage = await prepareCompaction(join(directory, 'compaction'))
  const all = await compactionCalls(stage)
  const calls = drawn(all)
  await findFaults(calls, async (call) => {
    note(await killCompactionAt(stage, call))
    return undefined
  })
  say(`compactions killed at a call: ${calls.length} of ${all.length}`)
  const count = Math.ceil(randomKillCount / 2)
  const lanes = [seed, seed + 1].map((own) =>
    killCompactionsAtRandom(stage, count, seededRandom(own)),
  )
  for (const { fault, finishedCount } of await Promise.all(lanes)) {
    note(fault)
    say(`compactions killed at random: ${count}; ${finishedCount} were faster`)
  }
}

function note(fault: string | undefined): void {
  if (fault === undefined) return
  faultCount++
  say(`FOUND ${fault}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
