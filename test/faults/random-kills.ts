/**
 * Imports that are killed at any time, each on what the one before left.
 *
 * @module
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../support/random/world.js'
import { ageLock, currentContent } from './content.js'
import { importAgain } from './kill.js'
import { importFor, inPlace, type Place, placeFor, type Scenario, type Stage } from './stage.js'
import { startImport } from './trace.js'

export interface RandomKills {
  readonly fault: string | undefined
  readonly killedCount: number
  /** Imports that were done before their time came. */
  readonly finishedCount: number
  /** Of those that were killed, how many had made the new snapshot current. */
  readonly switchedCount: number
}

/** Imports forth and back into one directory, until so many imports were killed. */
export async function killAtRandom(
  { replace, back }: Stage,
  count: number,
  random: Random,
): Promise<RandomKills> {
  const tally = { killedCount: 0, finishedCount: 0, switchedCount: 0 }
  const fault = await inPlace(replace, 'killed at random', async (place) => {
    // The shortest, so that few are done before their time comes.
    const times = [await timesOf(replace), await timesOf(replace)]
    const readingMs = Math.min(...times.map((time) => time.readingMs))
    const writingMs = Math.min(...times.map((time) => time.writingMs))
    let scenario = replace
    while (tally.killedCount < count) {
      ageLock(place.data)
      const isKilled = await killOnce({ ...place, import: importFor(scenario, place.directory) })
      const content = await currentContent(place.data, scenario.expected)
      const isSwitched = content === scenario.expected.after
      if (!isKilled && !isSwitched) throw new Error('what was published is not current')
      if (isKilled) tally.killedCount++
      else tally.finishedCount++
      if (isKilled && isSwitched) tally.switchedCount++
      if (isSwitched) scenario = scenario === replace ? back : replace
    }
    await importAgain(scenario, { ...place, import: importFor(scenario, place.directory) })

    /** One in ten at any time; the others while they write, which is the shorter part. */
    async function killOnce(target: Place): Promise<boolean> {
      const { child, finished } = startImport(target.import)
      const isAnyTime = random.between(1, 10) === 1
      const share = random.unit()
      if (!isAnyTime) await untilWriting(target.data, finished)
      const spanMs = isAnyTime ? readingMs + writingMs : writingMs
      await Promise.race([finished, sleep(share * spanMs)])
      child.kill('SIGKILL')
      const { code, stderr } = await finished
      if (code !== null && code !== 0) throw new Error(`an import ended with ${code}: ${stderr}`)
      return code === null
    }
  })
  return { fault, ...tally }
}

/** How long an import that nobody disturbs takes before its first file, and from there. */
async function timesOf(scenario: Scenario): Promise<{ readingMs: number; writingMs: number }> {
  const place = placeFor(scenario)
  try {
    const startedMs = performance.now()
    const { finished } = startImport(place.import)
    await untilWriting(place.data, finished)
    const writingStartedMs = performance.now()
    await finished
    const endedMs = performance.now()
    return { readingMs: writingStartedMs - startedMs, writingMs: endedMs - writingStartedMs }
  } finally {
    place.remove()
  }
}

/** Returns when a new directory beside the snapshots is there, or the import has ended. */
async function untilWriting(data: string, finished: Promise<unknown>): Promise<void> {
  let isEnded = false
  const note = () => {
    isEnded = true
  }
  finished.then(note, note)
  const given = new Set(entriesIn(join(data, 'snapshots')))
  while (!isEnded && entriesIn(join(data, 'snapshots')).every((entry) => given.has(entry))) {
    await sleep(1)
  }
}

/** By name and birth, since an import that was killed may have left one of the same name. */
function entriesIn(directory: string): string[] {
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names.map((name) => {
    const stats = statSync(join(directory, name), { throwIfNoEntry: false })
    return `${name} ${stats?.ino} ${stats?.birthtimeMs}`
  })
}
