/**
 * Digests as whoever compares machines is told them: with the salt of their entry, which operators cannot read. What is
 * alike is alike with it, too, and nobody can tell by them whether a number that he guesses is there.
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { ComparedStore } from '../store/entries.js'
import type { LocalDigests, MachineDigests } from './machine-digests.js'

/** In hexadecimal digits. */
export const newSalt = () => randomBytes(SALT_BYTES).toString('hex')

const SALT_BYTES = 32

/** @param chainHash  of the journal at the entry */
export function saltedDigests(
  { salt, store, changedPart, regions }: LocalDigests,
  chainHash: string,
): MachineDigests {
  const key = Buffer.from(salt, 'hex')
  const salted = (digest: string) => createHmac('sha256', key).update(digest).digest('hex')
  const parts = Object.entries(store).map(([part, { count, digest }]) => [
    part,
    { count, digest: salted(digest) },
  ])
  return {
    chainHash: salted(chainHash),
    store: Object.fromEntries(parts) as ComparedStore,
    changedPart,
    regions: regions.map((one) => ({
      ...one,
      digest: one.digest === null ? null : salted(one.digest),
    })),
  }
}
