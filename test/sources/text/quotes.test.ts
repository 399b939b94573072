import fc from 'fast-check'
import t from 'tap'
import { QuoteCheck } from '../../../src/sources/text/quotes.js'
import { testSeed } from '../../support/random/properties.js'

/** Fields without a quotation mark, or in two of them with others doubled between. */
const WHOLE_LINE = /^("([^"]|"")*"|[^";]*)(;("([^"]|"")*"|[^";]*))*$/

t.test('any line whose fields do not end on it is noticed, wherever a file is cut', async (t) => {
  const seed = testSeed(t)
  const sign = fc.constantFrom('"', '"', ';', ';', '\n', '\r', '\r\n', 'a', 'bc', 'é', ' ', ',')
  const lines = fc.constantFrom('"a"\n', 'a;"b;c"\n', '"a""b";\n', '""\n', 'x;y\n', '"\n', 'a"\n')
  const pieces = fc.oneof(
    fc.array(sign, { maxLength: 30 }),
    fc.array(lines, { maxLength: 8 }),
    fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant('"a";b\r\n') }, lines)),
  )
  const cuts = fc.array(fc.nat(60), { maxLength: 5 })
  let looseCount = 0
  let quotedCount = 0
  fc.assert(
    fc.property(pieces, cuts, (texts, places) => {
      const bytes = Buffer.from(texts.join(''))
      const check = new QuoteCheck(';')
      const bounds = [0, ...places.toSorted((a, b) => a - b), bytes.length]
      for (const [i, start] of bounds.slice(0, -1).entries()) {
        check.push(bytes.subarray(start, bounds[i + 1]))
      }
      check.finish()
      const isLoose = bytes
        .toString()
        .split(/[\r\n]/)
        .some((line) => !WHOLE_LINE.test(line))
      if (isLoose) looseCount++
      else if (bytes.includes('"')) quotedCount++
      return check.hasLoose === isLoose
    }),
    { seed, numRuns: 5_000 },
  )
  t.ok(looseCount > 500 && quotedCount > 500)
})
