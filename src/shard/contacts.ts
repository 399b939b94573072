/**
 * Contacts: a contact of a source may have several recipients, its locations.
 *
 * @module
 */
import { type Budget, charge } from './budget.js'
import type { Shard } from './layout.js'
import { RunList, recipientCountOf } from './runs.js'

/** @returns of each shard, the contacts that none of the shards before it has in its runs */
export function countContacts(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
): number[] {
  return eachContactOnce(shards, runs, budget, countNew)
}

/** @returns the runs of each shard, reduced to the first recipient of each contact */
export function firstOfContacts(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
): Uint32Array[] {
  return eachContactOnce(shards, runs, budget, keepNew)
}

/** The cost of looking at the contact of a recipient, in edge tests. */
const CONTACT_COST = 8

/** One bit a contact, all of them zero between calls. */
let seen = new Uint32Array(0)
const keptRuns = new RunList()

function eachContactOnce<Value>(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
  look: (contacts: Uint32Array, runs: Uint32Array) => Value,
): Value[] {
  const recipientCount = runs.reduce((sum, each) => sum + recipientCountOf(each), 0)
  charge(budget, CONTACT_COST * recipientCount)
  const wordCount = Math.ceil(shards[0].contactCount / 32)
  if (wordCount > seen.length) seen = new Uint32Array(wordCount)
  const values = shards.map(({ contacts }, at) => look(contacts, runs[at]))
  if (recipientCount > wordCount / 8) seen.fill(0, 0, wordCount)
  else for (const [at, { contacts }] of shards.entries()) forget(contacts, runs[at])
  return values
}

function countNew(contacts: Uint32Array, runs: Uint32Array): number {
  let count = 0
  for (let run = 0; run < runs.length; run += 2) {
    for (let recipient = runs[run]; recipient < runs[run + 1]; recipient++) {
      const contact = contacts[recipient]
      const bit = 1 << (contact & 31)
      const word = seen[contact >>> 5]
      count += Number((word & bit) === 0)
      seen[contact >>> 5] = word | bit
    }
  }
  return count
}

function keepNew(contacts: Uint32Array, runs: Uint32Array): Uint32Array {
  keptRuns.clear()
  for (let run = 0; run < runs.length; run += 2) {
    for (let recipient = runs[run]; recipient < runs[run + 1]; recipient++) {
      const contact = contacts[recipient]
      const bit = 1 << (contact & 31)
      const word = seen[contact >>> 5]
      if ((word & bit) === 0) keptRuns.append(recipient, recipient + 1)
      seen[contact >>> 5] = word | bit
    }
  }
  return keptRuns.toPairs()
}

function forget(contacts: Uint32Array, runs: Uint32Array): void {
  for (let run = 0; run < runs.length; run += 2) {
    for (let recipient = runs[run]; recipient < runs[run + 1]; recipient++) {
      seen[contacts[recipient] >>> 5] = 0
    }
  }
}
