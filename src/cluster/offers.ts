/**
 * Files that this machine lacks, and others have.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { NodeReports } from './node-reports.js'
import type { AskNode } from './questions.js'
import type { FileDigest } from './verified-file.js'

interface OfferOptions {
  readonly ask: AskNode
  readonly reports: NodeReports
  readonly writer: string | undefined
  /** Nobody asks a machine that has been silent for so long. */
  readonly silenceMs: number
}

/** @returns whether another machine has put the file into the object store; the one that writes is asked first */
export async function askForFile(options: OfferOptions, file: FileDigest): Promise<boolean> {
  const { ask } = options
  for (const name of machinesToAsk(options)) {
    const question = { kind: 'offer', file } as const
    const answer = await ask<'offer'>(name, question, limits.fileOfferedMs).catch(() => undefined)
    if (answer?.isDone) return true
  }
  return false
}

/** Those that are there, the one that writes first. */
export function machinesToAsk({
  reports,
  writer,
  silenceMs,
}: Omit<OfferOptions, 'ask'>): readonly string[] {
  return reports
    .ofThoseThere(silenceMs)
    .map(({ agreement }) => agreement.name)
    .sort((left, right) => Number(right === writer) - Number(left === writer))
}
