/**
 * Tells whether quotation marks of a CSV file could make a record of several lines: in pieces that are
 * read at the same time, lines inside a quoted field may be taken for records.
 *
 * @module
 */

type Place = 'fieldStart' | 'plain' | 'quoted' | 'afterQuote'

const [QUOTE, LF, CR] = Buffer.from('"\n\r')

export class QuoteCheck {
  readonly #delimiter: number
  #place: Place = 'fieldStart'
  /**
   * Whether there is a quotation mark that neither opens a field, nor closes it on the same line, nor
   * is one of two within it.
   */
  hasLoose = false

  /** @param delimiter  one byte */
  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  push(bytes: Uint8Array): void {
    if (this.hasLoose || bytes.length === 0) return
    const isQuoted = this.#place === 'quoted' || this.#place === 'afterQuote'
    if (isQuoted || bytes.includes(QUOTE)) this.#pushQuoted(bytes)
    else this.#place = this.#endsField(bytes[bytes.length - 1]) ? 'fieldStart' : 'plain'
  }

  /** After the last byte. */
  finish(): void {
    if (this.#place === 'quoted') this.hasLoose = true
  }

  #pushQuoted(bytes: Uint8Array): void {
    let place = this.#place
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (place === 'quoted') {
        if (byte === QUOTE) place = 'afterQuote'
        else if (byte === LF || byte === CR) break
      } else if (byte === QUOTE) {
        if (place === 'plain') break
        // Of 'afterQuote': one of two.
        place = 'quoted'
      } else if (this.#endsField(byte)) place = 'fieldStart'
      else if (place === 'afterQuote') break
      else place = 'plain'
      if (at === bytes.length - 1) {
        this.#place = place
        return
      }
    }
    this.hasLoose = true
  }

  #endsField(byte: number): boolean {
    return byte === this.#delimiter || byte === LF || byte === CR
  }
}
