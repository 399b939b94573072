/**
 * Looks for a test file that finds a planted fault: one that fails with it and passes without it.
 *
 * @module
 */
import { join } from 'node:path'
import type { Finders, Tier } from './finders.js'
import type { Mutant } from './mutant.js'
import { type Outcome, runTest } from './run-test.js'
import { WorkingCopy } from './working-copy.js'

export interface Hunt {
  readonly mutant: Mutant
  /** By which tier, file and how; undefined where no file has found it. */
  readonly found?: { readonly tier: Tier; readonly file: string; readonly how: Outcome }
  /** Why it was not planted. */
  readonly fault?: string
  /** Files that were run with the fault. */
  readonly runCount: number
  /** Whether the time was over before all files were run. */
  readonly isCut: boolean
  readonly seconds: number
}

interface HuntOptions {
  readonly tiers: readonly Tier[]
  readonly seed: number
  readonly timeoutMs: number
  readonly msPerMutant: number
}

/** Hunts one fault after the other in a copy of its own. */
export class Hunter {
  readonly #copy: WorkingCopy
  readonly #finders: Finders
  readonly #options: HuntOptions
  /** Whether a file passes in the copy without any fault, by tier and file. */
  readonly #passes = new Map<string, boolean>()

  /** @param directory  of the hunter alone; it is made */
  constructor(repository: string, directory: string, finders: Finders, options: HuntOptions) {
    this.#copy = new WorkingCopy(repository, join(directory, 'copy'))
    this.#finders = finders
    this.#options = options
  }

  async hunt(mutant: Mutant): Promise<Hunt> {
    const startedMs = performance.now()
    const deadlineMs = startedMs + this.#options.msPerMutant
    let runCount = 0
    const end = (rest: Pick<Hunt, 'found' | 'fault'>, isCut = false): Hunt => ({
      mutant,
      ...rest,
      runCount,
      isCut,
      seconds: (performance.now() - startedMs) / 1000,
    })
    for (const { file, tier } of this.#finders.of(mutant, this.#options.tiers)) {
      if (performance.now() > deadlineMs) return end({}, true)
      if (this.#passes.get(`${tier} ${file}`) === false) continue
      let restore: () => void
      try {
        restore = this.#copy.plant(mutant)
      } catch (error) {
        return end({ fault: (error as Error).message })
      }
      runCount++
      const how = await this.#run(file, tier).finally(restore)
      if (how !== 'passed' && (await this.#passesWithout(file, tier))) {
        return end({ found: { tier, file, how } })
      }
    }
    return end({})
  }

  async #passesWithout(file: string, tier: Tier): Promise<boolean> {
    const key = `${tier} ${file}`
    const passes = this.#passes.get(key) ?? (await this.#run(file, tier)) === 'passed'
    this.#passes.set(key, passes)
    return passes
  }

  #run(file: string, tier: Tier): Promise<Outcome> {
    const { seed, timeoutMs } = this.#options
    return runTest({ root: this.#copy.root, file, tier, seed, timeoutMs })
  }
}
