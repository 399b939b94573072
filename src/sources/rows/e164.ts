/**
 * Numbers in the form of E.164 (+15555550101), by the numbering plans of libphonenumber. A number is
 * taken if it is possible: its calling code exists, and it has a length that numbers there have. The
 * ranges that are in use change every week, and a number that was assigned last month must be warned.
 *
 * @module
 */
import {
  type CountryCode,
  isSupportedCountry,
  PhoneNumber as LibraryNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { RejectReason } from './rejects.js'

type NumberFault = Extract<RejectReason, 'NumberImpossible' | 'NumberExtension'>

interface E164Number {
  /** Empty if there is a fault. */
  readonly number: string
  readonly fault: NumberFault | undefined
}

/**
 * The region of `e164:US`.
 *
 * @param origin  of the text, such as `--normalize`
 */
export function parseNormalization(text: string, origin: string): string {
  const [, region] = /^e164:([A-Z]{2})$/.exec(text) ?? []
  if (region !== undefined && isSupportedCountry(region)) return region
  const shown = JSON.stringify(text).slice(0, SHOWN_CHAR_COUNT)
  throw new OperatorError(
    'Usage',
    `${origin} takes e164 and the two letters of the country of numbers without a calling code, ` +
      `such as e164:US, not ${shown}`,
  )
}

export class E164Numbers {
  readonly #region: CountryCode
  /** What the digits before the last ones become, as the library says of a number that begins so. */
  readonly #prefixes = new Map<string, string>()
  readonly #prefixCountMax: number

  /**
   * @param region  the country of numbers without a calling code, of `parseNormalization`
   * @param prefixCountMax  of beginnings that are remembered; a test has fewer
   */
  constructor(region: string, prefixCountMax: number = limits.numberPrefixCount) {
    this.#region = region as CountryCode
    this.#prefixCountMax = prefixCountMax
  }

  /** Beginnings of numbers that are remembered. */
  get prefixCount(): number {
    return this.#prefixes.size
  }

  /** The number of a text. */
  read(text: string): E164Number {
    const digits = COMPACT.test(text) ? text : text.replace(PUNCTUATION, '')
    if (!COMPACT.test(digits) || SIGN_IN_FRONT.test(text)) return this.#parseAny(text)
    const tailStart = Math.max(leastStart(digits), digits.length - TAIL_DIGIT_COUNT)
    const start = digits.slice(0, tailStart)
    // Of numbers that begin alike, long ones need not be what short ones are.
    const key = start + String.fromCharCode(digits.length)
    const known = this.#prefixes.get(key)
    if (known !== undefined) return good(known + digits.slice(tailStart))
    const found = this.#parse(digits)
    if (found === undefined) return this.#parseAny(digits)
    if (isAsGiven(found, digits)) {
      if (this.#prefixes.size >= this.#prefixCountMax) this.#prefixes.clear()
      this.#prefixes.set(key, found.number.slice(0, tailStart - digits.length || undefined))
    }
    return good(found.number)
  }

  #parseAny(given: string): E164Number {
    const visible = given.replace(INVISIBLE, '').replace(END, '')
    const front = FRONT.exec(visible)
    if (front === null) return IMPOSSIBLE
    // The library takes what is behind a fullwidth plus for a national number.
    const text = (front[1] === '' ? '' : '+') + visible.slice(front[0].length)
    // Where 00 means something else, it is no way to begin a number.
    const found = this.#parse(text) ?? (ZEROS.test(text) && this.#parse(text.replace(ZEROS, '+')))
    if (!found) return IMPOSSIBLE
    return found.ext === undefined ? good(found.number) : EXTENDED
  }

  #parse(text: string): LibraryNumber | undefined {
    const options = { defaultCountry: this.#region, extract: false } as const
    const found = parsePhoneNumberFromString(text, options)
    if (found?.isPossible() !== true) return undefined
    // By Canada's plan alone, seven digits without an area code are possible: not by that of all of +1.
    return new LibraryNumber(found.number).isPossible() ? found : undefined
  }
}

const SHOWN_CHAR_COUNT = 40
const IMPOSSIBLE: E164Number = { number: '', fault: 'NumberImpossible' }
const EXTENDED: E164Number = { number: '', fault: 'NumberExtension' }
/**
 * The library takes 20 microseconds for a number. What it makes of a number that needs no more than its
 * calling code does not depend on these digits; a test shows that for all countries.
 */
const TAIL_DIGIT_COUNT = 5
const COMPACT = /^\+?[0-9]{8,17}$/
const PUNCTUATION = /[-(). ]/g
const SIGN_IN_FRONT = /^[ (+]*[-).]/
/** White space, and the marks for the direction of a text that telephones put around numbers. */
const INVISIBLE = /[\s\p{Cf}]/gu
/** All that may be in front of the first digit, with the plus in it. Any other sign may mean something. */
const FRONT = /^(?:tel:)?[([（［]*([+＋]?)[([（［]*(?=\p{Nd})/iu
/** The library overlooks the `~` of an extension before these. */
const END = /[-‐-―−ー－.．/／()（）[\]［］~⁓∼～]+$/
const ZEROS = /^00/

/** Characters that must be looked at: five digits behind the calling code. */
function leastStart(digits: string): number {
  if (digits[0] !== '+') return 5
  return digits[1] === '1' || digits[1] === '7' ? 7 : 8
}

/** Whether all of the digits are in the number, without a prefix that is dialled within a country. */
function isAsGiven(found: LibraryNumber, digits: string): boolean {
  if (found.nationalNumber.startsWith('0')) return false
  return found.number === digits || found.number === `+${found.countryCallingCode}${digits}`
}

function good(number: string): E164Number {
  return { number, fault: undefined }
}
