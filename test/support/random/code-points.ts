import fc from 'fast-check'

/** Where the halves of pairs are, which are no characters. */
const [surrogates, surrogateCount] = [0xd800, 0x800]

/**
 * Units of texts: any character, as the unit `binary` of fast-check, which first makes a table of all of them. That
 * takes a second of processor time.
 */
export const codePoint: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - surrogateCount }).map(
  (at) => String.fromCodePoint(at < surrogates ? at : at + surrogateCount),
  (value) => {
    if (typeof value !== 'string' || [...value].length !== 1) throw new Error('no character')
    const point = Number(value.codePointAt(0))
    return point < surrogates ? point : point - surrogateCount
  },
)
