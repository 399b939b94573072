/**
 * Asks something new every so often while a load goes on, and holds the answers against brute force
 * when it is over: under load, too, nobody may be missing.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { requestBody, type Selection } from '../requests/requests.js'
import { ask } from './answers.js'
import type { Oracle } from './oracle.js'

export interface Sample {
  readonly askedCount: number
  /** Sentences about answers that are wrong, or did not come. */
  readonly faults: readonly string[]
}

/** @param fresh  what to ask; when all of it was asked, no more is */
export async function sampleWhile<Result>(
  url: string,
  fresh: readonly Selection[],
  oracle: Oracle,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly sample: Sample }> {
  const over = new AbortController()
  const asking = askUntil(url, fresh, over.signal)
  try {
    const result = await work()
    over.abort()
    return { result, sample: verified(await asking, fresh, oracle) }
  } finally {
    over.abort()
    await asking
  }
}

const PAUSE_MS = 100

type Taken = { readonly answer: string } | { readonly fault: string }

async function askUntil(
  url: string,
  fresh: readonly Selection[],
  over: AbortSignal,
): Promise<Taken[]> {
  const taken: Taken[] = []
  for (const selection of fresh) {
    if (over.aborted) break
    try {
      taken.push({ answer: await ask(url, requestBody(selection)) })
    } catch (error) {
      taken.push({ fault: (error as Error).message })
    }
    await sleep(PAUSE_MS, undefined, { signal: over }).catch(() => {})
  }
  return taken
}

function verified(taken: readonly Taken[], fresh: readonly Selection[], oracle: Oracle): Sample {
  const faults = taken.flatMap((one, at) => {
    const fault = 'fault' in one ? one.fault : oracle.faultOf(fresh[at], one.answer)
    return fault === undefined ? [] : [`asked beside the load: ${fault}`]
  })
  return { askedCount: taken.length, faults }
}
