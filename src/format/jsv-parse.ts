/**
 * Reads JSV, or JSON. Valid JSON keeps its meaning. Any other text is read as JSV, where texts and keys
 * have no quotes and a backslash is an ordinary character.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'

/**
 * @param field  the member that the text is the value of, for the error
 * @throws ServiceError  InvalidJson, InvalidRequest or TooComplex, never quoting the text
 */
export function parseJsv(text: string, field?: string): unknown {
  try {
    return new Reader(text, 'json', field).read()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'InvalidJson') throw error
    return new Reader(text, 'jsv', field).read()
  }
}

class Reader {
  readonly #text: string
  readonly #notation: 'json' | 'jsv'
  readonly #field: string | undefined
  #at = 0
  #depth = 0
  #memberCount = 0
  #itemCount = 0

  constructor(text: string, notation: 'json' | 'jsv', field: string | undefined) {
    this.#text = text
    this.#notation = notation
    this.#field = field
  }

  read(): unknown {
    const value = this.#value()
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#fail()
    return value
  }

  #value(): unknown {
    const before = this.#at
    this.#skipSpace()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#nested(() => this.#object())
      case '[':
        return this.#nested(() => this.#list())
      case '"':
        return this.#quoted()
      default:
        return this.#bare(before)
    }
  }

  #nested<Value>(read: () => Value): Value {
    if (++this.#depth > limits.jsonDepthCount) {
      this.#refuse('InvalidJson', `nests deeper than ${limits.jsonDepthCount} levels`)
    }
    this.#countItem()
    this.#at++
    const value = read()
    this.#depth--
    return value
  }

  #object(): object {
    const members: [key: string, value: unknown][] = []
    if (!this.#takes('}')) {
      do {
        const key = this.#key()
        if (!this.#takes(':')) this.#fail()
        this.#countMember()
        members.push([key, this.#value()])
      } while (this.#continues('}'))
    }
    // Defines every key as a property of its own, `__proto__` too; of equal keys the last stays.
    return Object.fromEntries(members)
  }

  #list(): unknown[] {
    const items: unknown[] = []
    if (!this.#takes(']')) {
      do items.push(this.#value())
      while (this.#continues(']'))
    }
    return items
  }

  /** True after a comma; false after the end. */
  #continues(end: string): boolean {
    if (this.#takes(',')) {
      this.#countItem()
      return true
    }
    if (!this.#takes(end)) this.#fail()
    return false
  }

  #key(): string {
    this.#skipSpace()
    if (this.#text[this.#at] === '"') return this.#quoted()
    const key = withoutSpace(this.#untilSign(this.#at))
    if (key === '' || this.#notation === 'json') this.#fail()
    return key
  }

  #quoted(): string {
    const start = this.#at
    return this.#notation === 'json' ? this.#jsonString(start) : this.#jsvText(start)
  }

  #jsonString(start: number): string {
    const text = this.#text
    let end = start + 1
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    this.#at = end + 1
    let value: string
    try {
      value = JSON.parse(text.slice(start, end + 1))
    } catch {
      return this.#fail()
    }
    if (!value.isWellFormed()) this.#refuse('InvalidRequest', 'has half of a surrogate pair')
    return value
  }

  #jsvText(start: number): string {
    const text = this.#text
    let end = text.indexOf('"', start + 1)
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
    if (end < 0) this.#fail()
    this.#at = end + 1
    return text.slice(start + 1, end).replaceAll('""', '"')
  }

  /**
   * A value without quotes. The spaces around a text are part of it, except for those after a line end,
   * which are layout.
   *
   * @param before  where the space in front of it begins
   */
  #bare(before: number): unknown {
    const isIndented = /[\r\n]/.test(this.#text.slice(before, this.#at))
    const text = this.#untilSign(isIndented ? this.#at : before)
    const word = withoutSpace(text)
    if (word === 'null') return null
    // A number that would be written differently stays text, which is accepted as a number, too.
    if (JSON_NUMBER.test(word) && (this.#notation === 'json' || String(Number(word)) === word)) {
      return Number(word)
    }
    const lower = this.#notation === 'json' || word.length > 5 ? word : word.toLowerCase()
    if (lower === 'true' || lower === 'false') return lower === 'true'
    return word === '' || this.#notation === 'json' ? this.#fail() : text
  }

  /** The text from `start` to the next sign of the notation. */
  #untilSign(start: number): string {
    this.#skip(PLAIN)
    return this.#text.slice(start, this.#at)
  }

  /** Takes the sign if it comes next, spaces aside; otherwise leaves also the spaces. */
  #takes(sign: string): boolean {
    const before = this.#at
    this.#skipSpace()
    const isNext = this.#text[this.#at] === sign
    this.#at = isNext ? this.#at + 1 : before
    return isNext
  }

  #skipSpace(): void {
    if (SPACES.has(this.#text[this.#at])) this.#skip(SPACE)
  }

  /** @param run  sticky; matches at any place, nothing if need be */
  #skip(run: RegExp): void {
    run.lastIndex = this.#at
    run.test(this.#text)
    this.#at = run.lastIndex
  }

  #countItem(): void {
    if (++this.#itemCount <= limits.jsonItemCount) return
    this.#refuse('TooComplex', `has more than ${limits.jsonItemCount} lists, objects and commas`)
  }

  #countMember(): void {
    if (++this.#memberCount <= limits.jsonMemberCount) return
    this.#refuse('TooComplex', `has more than ${limits.jsonMemberCount} members`)
  }

  #fail(): never {
    this.#refuse('InvalidJson', 'is neither JSON nor JSV: unexpected text or end')
  }

  #refuse(code: 'InvalidJson' | 'InvalidRequest' | 'TooComplex', problem: string): never {
    throw new ServiceError(code, `the value ${problem} at character ${this.#at}`, this.#field)
  }
}

const SPACES: ReadonlySet<string> = new Set(' \t\r\n')
const SPACE = /[ \t\r\n]*/y
const PLAIN = /[^",:{}[\]\r\n]*/y

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Without the spaces that JSON knows; `trim` takes others away too. */
function withoutSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && SPACES.has(text[start])) start++
  while (end > start && SPACES.has(text[end - 1])) end--
  return text.slice(start, end)
}
