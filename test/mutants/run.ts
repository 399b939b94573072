/**
 * Plants faults in copies of the program, one at a time, and says which tests find them. A fault that no test
 * finds is a hole in the tests.
 *
 *   npm run test:mutants -- [--only FOLDER | FILE | NAME]... [--tier short|all] [--lanes N] [--json FILE] [--list]
 *                           [--seed N] [--minutes-per-mutant N] [--timeout SECONDS]
 *
 * `--tier all` runs test files of the long tier, too, where those of the short one find nothing.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { dist } from '../runner/files.js'
import { mutants } from './all.js'
import { Finders, type Tier } from './finders.js'
import { type Hunt, Hunter } from './hunt.js'
import type { Mutant } from './mutant.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    tier: { type: 'string', default: 'short' },
    lanes: { type: 'string', default: String(availableParallelism()) },
    json: { type: 'string' },
    list: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    'minutes-per-mutant': { type: 'string', default: '10' },
    timeout: { type: 'string', default: '120' },
  },
})

const { only } = values
const chosen = mutants.filter(({ name, file }) => {
  const isMeant = (one: string) => name === one || file === one || file.startsWith(`${one}/`)
  return only.length === 0 || only.some(isMeant)
})
if (chosen.length === 0) throw new Error(`no fault is named or lies in "${only.join('", "')}"`)

if (values.list) for (const { name, file } of chosen) say(`${file}: ${name}`)
else process.exitCode = tell(await huntAll())

async function huntAll(): Promise<readonly Hunt[]> {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-mutants-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const tiers: readonly Tier[] = values.tier === 'all' ? ['short', 'long'] : ['short']
  const options = {
    tiers,
    seed: Number(values.seed),
    timeoutMs: Number(values.timeout) * 1000,
    msPerMutant: Number(values['minutes-per-mutant']) * 60_000,
  }
  const finders = new Finders()
  const waiting = [...chosen]
  const hunts: Hunt[] = []
  const lane = async (_: unknown, index: number) => {
    const own = join(directory, String(index))
    mkdirSync(own)
    const hunter = new Hunter(join(dist, '..'), own, finders, options)
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const hunt = await hunter.hunt(next)
      hunts.push(hunt)
      say(lineOf(hunt))
      if (values.json !== undefined) writeFileSync(values.json, jsonOf(hunts))
    }
  }
  const laneCount = Math.min(Number(values.lanes), waiting.length)
  await Promise.all(Array.from({ length: laneCount }, lane))
  return hunts
}

function lineOf({ mutant, found, fault, runCount, isCut, seconds }: Hunt): string {
  const time = `${seconds.toFixed(1)} s`
  const what = `${mutant.file}: ${mutant.name}`
  if (fault !== undefined) return `NOT PLANTED ${what}\n    ${fault}`
  if (found === undefined) {
    return `NOT FOUND ${what}\n    by ${runCount} files in ${time}${isCut ? ', and not all were run' : ''}`
  }
  const way = found.how === 'hung' ? 'hangs' : 'fails'
  return `${found.tier} ${what}\n    ${found.file} ${way}, ${time}, ${runCount} files`
}

/** @returns the code to end with */
function tell(hunts: readonly Hunt[]): number {
  const foundBy = (tier: Tier) => hunts.filter(({ found }) => found?.tier === tier).length
  const missed = hunts.filter(({ found }) => found === undefined)
  say('')
  for (const { mutant, fault } of missed) {
    say(`${fault === undefined ? 'NOT FOUND' : 'NOT PLANTED'} ${mutant.file}: ${mutant.name}`)
  }
  say(
    `${hunts.length} faults: ${foundBy('short')} found by the short tier, ${foundBy('long')} by the long one, ` +
      `${missed.length} not found`,
  )
  return missed.length === 0 ? 0 : 1
}

function jsonOf(hunts: readonly Hunt[]): string {
  const flat = hunts.map(({ mutant, ...hunt }) => {
    const { name, file }: Mutant = mutant
    return { name, file, ...hunt }
  })
  return `${JSON.stringify(flat, null, 2)}\n`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
