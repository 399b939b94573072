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
}

/** @returns whether another machine has put the file into the object store */
export async function askForFile(options: OfferOptions, file: FileDigest): Promise<boolean> {
  const { ask } = options
  for (const name of machinesToAsk(options)) {
    const question = { kind: 'offer', file } as const
    const answer = await ask<'offer'>(name, question, limits.fileOfferedMs).catch(() => undefined)
    if (answer?.isDone) return true
  }
  return false
}

/** Those that are there. */
export function machinesToAsk({ reports }: Omit<OfferOptions, 'ask'>): readonly string[] {
  return reports.ofThoseThere().map(({ name }) => name)
}
