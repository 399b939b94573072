/**
 * Other ways to write a phone, to find out why nobody has the phones of a list: they are compared byte
 * for byte.
 *
 * @module
 */

/** Completes "written …". */
export type NotationName =
  | 'with +'
  | 'without +'
  | 'with + in place of 00'
  | 'without spaces and punctuation'
  | 'without spaces and punctuation, with +'

interface Notation {
  readonly name: NotationName
  /** Undefined where the phone is written so already. */
  readonly rewrite: (phone: string) => string | undefined
}

export const NOTATIONS: readonly Notation[] = [
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
