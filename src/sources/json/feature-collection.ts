/**
 * Takes a GeoJSON FeatureCollection apart into its features, one a line, without holding it: only
 * brackets and quotation marks are looked at, and whether a feature is JSON is seen afterwards.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'

/**
 * @param onFrame  is called at the end with the collection without its features
 * @throws OperatorError  `InputRejected` for what is not a FeatureCollection to its very end
 */
export async function* featureLines(
  name: string,
  content: AsyncIterable<Uint8Array>,
  onFrame?: (frame: object) => void,
): AsyncGenerator<Uint8Array> {
  const splitter = new FeatureSplitter(name)
  for await (const bytes of content) yield splitter.push(Uint8Array.from(bytes))
  const frame = splitter.end()
  onFrame?.(frame)
}

const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09]
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d]
/** In place of a line end inside a text: no more JSON than that. */
const NO_JSON = 0x01
const LINE_END = Uint8Array.of(LF)
/** The text before the list of features, in the text around it. */
const FEATURES_KEY = /[{,]\s*"features"\s*:\s*$/
/** With the white space around it. */
const KEY_BYTES_MAX = 256
const BYTE_ORDER_MARK = '\ufeff'

/** Around the list of features, or in it; a feature lasts to the next comma. */
type Place = 'frame' | 'beforeFeature' | 'inFeature'

class FeatureSplitter {
  readonly #name: string
  #place: Place = 'frame'
  #depth = 0
  #isText = false
  #isEscaped = false
  #hasFeatures = false
  #featureCount = 0
  /** All but the features. */
  readonly #frame: number[] = []

  constructor(name: string) {
    this.#name = name
  }

  /** The lines that come of these bytes, which are overwritten. */
  push(bytes: Uint8Array): Uint8Array {
    const pieces: Uint8Array[] = []
    let start = this.#place === 'inFeature' ? 0 : -1
    for (let at = 0; at < bytes.length; at++) {
      const before = this.#place
      this.#take(bytes, at)
      if (before === this.#place) continue
      if (this.#place === 'inFeature') start = at
      if (before === 'inFeature') {
        pieces.push(bytes.subarray(start, at), LINE_END)
        start = -1
      }
    }
    if (start !== -1) pieces.push(bytes.subarray(start))
    return Buffer.concat(pieces)
  }

  /** @returns all but the features */
  end(): object {
    if (this.#place !== 'frame' || this.#depth !== 0) throw this.#fault('it is cut off')
    const text = Buffer.from(this.#frame).toString().replace(BYTE_ORDER_MARK, '')
    let frame: unknown
    try {
      frame = JSON.parse(text)
    } catch {
      throw this.#fault('it is not JSON')
    }
    const { type } = (frame ?? {}) as { type?: unknown }
    if (type !== 'FeatureCollection' || !this.#hasFeatures) {
      throw this.#fault('its "type" is not FeatureCollection, or it has no "features"')
    }
    return frame as object
  }

  /** One byte on. */
  #take(bytes: Uint8Array, at: number): void {
    const byte = bytes[at]
    if (this.#place === 'frame') this.#keep(byte)
    if (this.#isText) {
      if (byte === LF || byte === CR) bytes[at] = NO_JSON
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isText = false
      return
    }
    if (this.#place === 'inFeature') {
      if (byte === LF || byte === CR) bytes[at] = SPACE
    } else if (this.#place !== 'frame') {
      if (byte === SPACE || byte === LF || byte === CR || byte === TAB) return
      if (this.#place === 'beforeFeature' && byte !== CLOSE_BRACKET && byte !== COMMA) {
        this.#place = 'inFeature'
        this.#featureCount++
      }
    }
    if (byte === QUOTE) this.#isText = true
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte)
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close(byte)
    else if (byte === COMMA) this.#comma()
  }

  #open(byte: number): void {
    this.#depth++
    if (this.#place !== 'frame' || byte !== OPEN_BRACKET || this.#depth !== 2) return
    const tail = Buffer.from(this.#frame.slice(-KEY_BYTES_MAX, -1)).toString()
    if (!FEATURES_KEY.test(tail)) return
    if (this.#hasFeatures) throw this.#fault('there are two lists of features')
    this.#hasFeatures = true
    this.#place = 'beforeFeature'
  }

  #close(byte: number): void {
    this.#depth--
    if (this.#place === 'frame') return
    if (this.#depth > 1) return
    // The list of features ends; a feature without brackets ends with it.
    if (byte !== CLOSE_BRACKET) throw this.#fault('a bracket is wrong')
    if (this.#place === 'beforeFeature' && this.#featureCount > 0) {
      throw this.#fault('there is a comma too many')
    }
    this.#place = 'frame'
    this.#keep(CLOSE_BRACKET)
  }

  #comma(): void {
    if (this.#depth !== 2 || this.#place === 'frame') return
    if (this.#place === 'beforeFeature') throw this.#fault('there is a comma too many')
    this.#place = 'beforeFeature'
  }

  #keep(byte: number): void {
    this.#frame.push(byte)
    if (this.#frame.length <= limits.collectionFrameBytes) return
    throw this.#fault(
      `it has more than ${limits.collectionFrameBytes} bytes beside its features; ` +
        'write it as one feature a line',
    )
  }

  #fault(what: string): Error {
    return new OperatorError(
      'InputRejected',
      `${this.#name} cannot be read as a GeoJSON FeatureCollection, ` +
        `after ${this.#featureCount} of its features: ${what}`,
    )
  }
}
