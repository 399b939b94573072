/**
 * Other notations of phones, to find out why no recipient has the phones of a list: they are compared byte for byte. And the
 * advice for clients and operators.
 *
 * @module
 */
import type { UnmatchedPhones } from '../store/change-port.js'

/** Phones in another notation. */
interface Trial {
  /** Completes "written …". */
  readonly notation: string
  readonly variants: readonly string[]
}

/** Variants that the list has itself are left out. */
export function trialsOf(
  phones: readonly string[],
  known: { has(phone: string): boolean },
): readonly Trial[] {
  return NOTATIONS.map(({ name, rewrite }) => {
    const written = new Set(phones.map(rewrite).filter((phone) => phone !== undefined))
    return { notation: name, variants: [...written].filter((phone) => !known.has(phone)) }
  }).filter(({ variants }) => variants.length > 0)
}

/** Some of them, evenly spread. */
export function sampleOf<Item>(all: readonly Item[], mostCount: number): Item[] {
  const step = Math.max(1, all.length / mostCount)
  return Array.from(
    { length: Math.min(all.length, mostCount) },
    (_, i) => all[Math.floor(i * step)],
  )
}

/** Advice if recipients have the phones in another notation; it quotes no phone. */
export function notationAdvice(
  { otherwiseWritten, triedCount, unmatchedCount }: UnmatchedPhones,
  whose: 'its' | 'the',
): string[] {
  const of = triedCount < unmatchedCount ? ` of ${triedCount} that were tried` : ''
  return otherwiseWritten.map(
    ({ notation, count }) =>
      `recipients have ${count} of ${whose} numbers${of} written ${notation}. They are compared ` +
      'byte for byte, so the list does not match them: write the numbers as they were imported',
  )
}

/** Advice for phones that recipients have in no other notation, either. */
export function unmatchedAdvice(
  { phoneCount, unmatchedCount }: UnmatchedPhones,
  whose: 'its' | 'the',
): string {
  return (
    `nobody has ${unmatchedCount} of ${whose} ${phoneCount} numbers: see that they are written ` +
    'as they were imported'
  )
}

/** Advice for a list of a source that does not exist. */
export const LIST_KEPT = 'the list is kept, and holds for a source of this id if it is imported'

interface Notation {
  readonly name: string
  /** Undefined if the phone is written so already. */
  readonly rewrite: (phone: string) => string | undefined
}

const NOTATIONS: readonly Notation[] = [
  { name: 'with +', rewrite: (phone) => (/^[0-9]/.test(phone) ? `+${phone}` : undefined) },
  { name: 'without +', rewrite: (phone) => (phone.startsWith('+') ? phone.slice(1) : undefined) },
  {
    name: 'with + in place of 00',
    rewrite: (phone) => (phone.startsWith('00') ? `+${phone.slice(2)}` : undefined),
  },
  { name: 'without spaces and punctuation', rewrite: bare },
  {
    name: 'without spaces and punctuation, with +',
    rewrite(phone) {
      const digits = bare(phone)
      return digits === undefined || digits.startsWith('+') ? undefined : `+${digits}`
    },
  },
]

function bare(phone: string): string | undefined {
  const rest = phone.replace(/[\s().\-/]/g, '')
  return rest === phone || rest === '' ? undefined : rest
}
