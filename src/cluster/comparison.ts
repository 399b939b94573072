/**
 * What machines have at one place of the journal, as they tell it to somebody who compares them, and what they do not have
 * alike. Plain data.
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { RegionDigest } from '../live/region-digests.js'
import { sharedParts } from '../store/digests.js'
import type { ComparedStore } from '../store/entries.js'

export interface MachineDigests {
  /** In hexadecimal digits, of the last batch up to there: with it, all before it are the same. */
  readonly chainHash: string
  readonly store: ComparedStore
  /** The part of the store of which the rows are not those that were written; undefined where there is none. */
  readonly changedPart: string | undefined
  readonly regions: readonly RegionDigest[]
}

/** Without what the thread of the cluster knows itself. They never leave the machine as they are. */
export interface LocalDigests extends Omit<MachineDigests, 'chainHash'> {
  /** Of the entry. */
  readonly salt: string
}

export interface DigestsQuestion {
  /** Of a `comparison` in the journal. */
  readonly sequence: number
  /** Which is served as of that entry. */
  readonly snapshotId: string
}

export type DigestsAnswer<Digests = MachineDigests> =
  /** Nothing is made yet, or never will be. `storedSequence`: how far a machine is that lacks changes. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly storedSequence?: number }
  /** In recipients. */
  | { readonly kind: 'working'; readonly doneCount: number; readonly totalCount: number }
  | { readonly kind: 'done'; readonly digests: Digests }
  | { readonly kind: 'failed'; readonly reason: string }

/** In hexadecimal digits. */
export const newSalt = () => randomBytes(SALT_BYTES).toString('hex')

const SALT_BYTES = 32

/**
 * With the salt of the entry, which operators cannot read: what is alike is alike with it, too, and nobody can tell by it
 * whether a number that he guesses is there.
 *
 * @param chainHash  of the journal at the entry
 */
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
    regions: regions.map((one) => ({ ...one, digest: one.digest && salted(one.digest) })),
  }
}

export interface ComparedMachine {
  readonly name: string
  readonly digests: MachineDigests
}

export interface Difference {
  /** `copies`: fewer machines hold a region than are to, or none of those that were asked. */
  readonly kind: 'content' | 'copies'
  readonly what: string
  /** By the name of each machine, short; nothing where it has none of it. */
  readonly values: Readonly<Record<string, string>>
}

/**
 * In the order in which things are listed.
 *
 * @param missing  the names of members that could not be asked, and may hold regions
 */
export function differencesOf(
  machines: readonly ComparedMachine[],
  missing: readonly string[] = [],
): Difference[] {
  const all = machines.map(({ name, digests }) => ({ name, things: thingsOf(digests) }))
  const whats = new Set(all.flatMap(({ things }) => [...things.keys()]))
  return [...whats].flatMap((what) => {
    const found = all.map(({ name, things }) => ({ name, thing: things.get(what) }))
    const values = Object.fromEntries(found.map(({ name, thing }) => [name, thing?.shown ?? '']))
    const differences: Difference[] = areAlike(found) ? [] : [{ kind: 'content', what, values }]
    const copies = copiesOf(found, missing)
    if (copies !== undefined) {
      differences.push({ kind: 'copies', what: `${what}, ${copies}`, values })
    }
    return differences
  })
}

interface Thing {
  /** What every machine knows. */
  readonly known: string
  /** Null where the machine does not hold it, nor is it compared there. */
  readonly held: string | null
  readonly shown: string
  /** Whatever others have. */
  readonly isWrong?: boolean
  /** The machines that are to hold it; undefined where every machine is. */
  readonly holders?: RegionDigest['holders']
}

interface Found {
  readonly name: string
  readonly thing: Thing | undefined
}

function areAlike(found: readonly Found[]): boolean {
  const known = new Set(found.map(({ thing }) => thing?.known))
  const held = new Set(found.flatMap(({ thing }) => thing?.held ?? []))
  return known.size === 1 && held.size <= 1 && !found.some(({ thing }) => thing?.isWrong)
}

/** How few machines hold it; undefined where enough do. */
function copiesOf(found: readonly Found[], missing: readonly string[]): string | undefined {
  const there = found.flatMap(({ name, thing }) => (thing === undefined ? [] : { name, thing }))
  const holding = there.filter(({ thing }) => thing.held !== null).map(({ name }) => name)
  if (holding.length === 0) return 'held by no machine that was asked'
  const placed = new Set(there.flatMap(({ thing }) => thing.holders ?? []))
  const wanted = placed.size === 0 ? there.map(({ name }) => name) : [...placed]
  const lacking = wanted.filter((name) => !holding.includes(name) && !missing.includes(name))
  if (lacking.length === 0) return undefined
  return `not held by ${lacking.join(', ')}`
}

function thingsOf({ chainHash, store, changedPart, regions }: MachineDigests): Map<string, Thing> {
  const things = new Map<string, Thing>()
  things.set('journal', { known: '', held: chainHash, shown: short(chainHash) })
  for (const part of sharedParts) {
    const { count, digest } = store[part]
    things.set(part, counted(count, digest))
  }
  const isWrong = changedPart !== undefined
  const shown = isWrong ? `changed (${changedPart})` : 'as written'
  things.set('rows of the store', { known: '', held: shown, shown, isWrong })
  for (const { sourceId, regionIndex, recipientCount, digest, holders } of regions) {
    const where = regionIndex === undefined ? 'since the snapshot' : `region ${regionIndex}`
    things.set(`source ${sourceId}, ${where}`, { ...counted(recipientCount, digest), holders })
  }
  return things
}

function counted(count: number, digest: string | null): Thing {
  const shown = `${count} (${digest === null ? 'not held' : short(digest)})`
  return { known: String(count), held: digest, shown }
}

const short = (digest: string) => digest.slice(0, SHOWN_DIGITS)

const SHOWN_DIGITS = 8
