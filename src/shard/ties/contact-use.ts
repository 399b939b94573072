/**
 * Which contacts of a source have several recipients, and which recipients these are. Threads note the
 * contacts of some shards each; when all are noted, they tie the recipients of a shard each.
 *
 * Contacts lie in no order, so a loop that branches on one of them is mispredicted all the time: bits
 * are computed and stored whether they change or not.
 *
 * @module
 */
import { bitCount } from '../bit-words.js'
import type { RankedSet } from './ranked-set.js'

/** The contacts of some shards, in shared memory: one bit each. */
export interface ContactUse {
  readonly once: Uint32Array
  readonly several: Uint32Array
}

/** The contacts of a source with several recipients, in shared memory. */
export interface SharedContacts {
  /** One bit for each contact. */
  readonly several: Uint32Array
  /** How many contacts with several recipients come before each word of bits. */
  readonly ranks: Uint32Array
  readonly count: number
}

/**
 * @param columns  the contacts of the recipients of some shards of a source
 * @param contactCount  of the source
 */
export function noteContacts(columns: readonly Uint32Array[], contactCount: number): ContactUse {
  const use = { once: bitsOf(contactCount), several: bitsOf(contactCount) }
  for (const contacts of columns) note(use, contacts)
  return use
}

/** @param uses  of all shards of a source, one at least; the first of them is used up */
export function findSharedContacts([
  { once, several },
  ...others
]: readonly ContactUse[]): SharedContacts {
  for (const other of others) {
    for (let word = 0; word < once.length; word++) {
      several[word] |= other.several[word] | (once[word] & other.once[word])
      once[word] |= other.once[word]
    }
  }
  let count = 0
  for (let word = 0; word < several.length; word++) {
    // Nobody asks any more which contacts have one recipient.
    once[word] = count
    count += bitCount(several[word])
  }
  return { several, ranks: once, count }
}

/**
 * Puts the recipients whose contact has several into a set, which may hold anything before, and the ids
 * of these contacts into `ids`, which may be the contacts themselves.
 *
 * @returns how many recipients are tied
 */
export function tieContacts(
  shared: SharedContacts,
  contacts: Uint32Array,
  set: RankedSet,
  ids: Uint32Array,
): number {
  const count = takeTied(shared.several, contacts, set, ids)
  numberTied(shared, ids, count)
  return count
}

function bitsOf(contactCount: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(4 * Math.ceil(contactCount / 32)))
}

function note({ once, several }: ContactUse, contacts: Uint32Array): void {
  for (let at = 0; at < contacts.length; at++) {
    const contact = contacts[at]
    const word = contact >>> 5
    const bit = 1 << (contact & 31)
    const before = once[word]
    several[word] |= before & bit
    once[word] = before | bit
  }
}

/** Leaves the contacts of tied recipients at the beginning of `ids`; returns how many these are. */
function takeTied(
  several: Uint32Array,
  contacts: Uint32Array,
  set: RankedSet,
  ids: Uint32Array,
): number {
  let count = 0
  for (let group = 0; group < set.length; group += 2) {
    set[group] = count
    let bits = 0
    const end = Math.min(16 * group + 32, contacts.length)
    for (let recipient = 16 * group; recipient < end; recipient++) {
      const contact = contacts[recipient]
      const isTied = (several[contact >>> 5] >>> (contact & 31)) & 1
      bits |= isTied << (recipient & 31)
      ids[count] = contact
      count += isTied
    }
    set[group + 1] = bits
  }
  return count
}

/** Gives the contacts in `ids` numbers without gaps, so that bits for them take little memory. */
function numberTied({ several, ranks }: SharedContacts, ids: Uint32Array, count: number): void {
  for (let at = 0; at < count; at++) {
    const contact = ids[at]
    const word = contact >>> 5
    ids[at] = ranks[word] + bitCount(several[word] & ~(-1 << (contact & 31)))
  }
}
