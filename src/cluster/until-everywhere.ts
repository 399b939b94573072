/**
 * Waits until all machines that are level answer by an entry, whichever machine writes.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import type { EverywhereDesk } from './everywhere.js'
import type { Everywhere } from './messages.js'
import type { AskNode } from './questions.js'

interface UntilOptions {
  readonly name: string
  readonly ask: AskNode
  /** As far as is known. */
  readonly writer: () => string | undefined
  readonly desk: EverywhereDesk
}

/** @returns when they do, or not in time */
export async function untilEverywhere(
  options: UntilOptions,
  sequence: number,
  waitMs: number,
): Promise<Everywhere> {
  const untilMs = performance.now() + waitMs
  let last: Everywhere = { isEverywhere: false, waitingFor: ['the machine that writes'] }
  while (performance.now() < untilMs) {
    const found = await askWriter(options, sequence, untilMs - performance.now())
    if (found !== undefined) last = found
    if (last.isEverywhere) break
    await sleep(limits.handAgainMs)
  }
  return last
}

async function askWriter(
  { name, ask, writer, desk }: UntilOptions,
  sequence: number,
  waitMs: number,
): Promise<Everywhere | undefined> {
  const to = writer()
  if (to === undefined) return undefined
  if (to === name) return await desk.until(sequence, waitMs)
  try {
    const question = { kind: 'everywhere', sequence, waitMs } as const
    const found = await ask<'everywhere'>(to, question, waitMs + limits.clusterCallMs)
    return found.isElsewhere ? undefined : found
  } catch {
    return undefined
  }
}
