/**
 * JSV, written and read back.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { writeJsv } from '../../src/format/jsv.js'
import { parseJsv } from '../../src/format/jsv-parse.js'
import { testSeed } from '../support/random/properties.js'

t.test('values are written as ServiceStack writes them', async (t) => {
  const cases: [value: unknown, jsv: string][] = [
    [
      ['a', 'b,c', 'd"e', '', '{x}', '[y]', 'a:b', ' sp '],
      '[a,"b,c","d""e","","{x}","[y]","a:b", sp ]',
    ],
    [{ Title: 'T', Url: 'http://x/y?a=1&b=2' }, '{Title:T,Url:"http://x/y?a=1&b=2"}'],
    [
      { Number: '+99912345678', LatLng: { Lat: 59.91, Lng: 10.75 } },
      '{Number:+99912345678,LatLng:{Lat:59.91,Lng:10.75}}',
    ],
    [{ k: 'v', 'k,2': 'v:2' }, '{k:v,"k,2":"v:2"}'],
    [{ A: null, B: undefined, C: 0, D: '', E: [], F: {} }, '{C:0,D:"",E:[],F:{}}'],
    [{ Status: ' lead' }, '{Status: lead}'],
    [[true, false, null, 1.5, -2, 1e21], '[True,False,null,1.5,-2,1e+21]'],
    ['a\r\nb', '"a\r\nb"'],
    ["a\\b=+'é\t;", "a\\b=+'é\t;"],
    [' \t', '" \t"'],
    [{ ' a': 1, '': 2 }, '{" a":1,"":2}'],
    [[Number.NaN, undefined], '[null,null]'],
    [[[[1.5, 2]], [[-3, 4.25]]], '[[[1.5,2]],[[-3,4.25]]]'],
  ]
  for (const [value, jsv] of cases) t.equal(writeJsv(value), jsv)
})

/** Texts that have no quotes in JSV and are not taken for texts then. */
const AMBIGUOUS = /^[ \t]*(true|false|null|-?\d+(\.\d+)?(e[+-]?\d+)?)[ \t]*$/i

const jsvTexts = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...'",:{}[]\r\n \t\\ab1.-+\u00a0') }),
  )
  .filter((text) => !AMBIGUOUS.test(text))

const { value: jsvValues } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    jsvTexts,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.boolean(),
    fc.array(fc.option(tie('value'))),
    fc.dictionary(jsvTexts, tie('value')),
  ),
}))

t.test('what is written is read back the same', async (t) => {
  const property = fc.property(jsvValues, (value) => {
    // A key without quotes: such a text is never JSON, whose backslashes mean something else.
    const read = parseJsv(writeJsv({ value }))
    return JSON.stringify(read) === JSON.stringify({ value })
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 2_000 })
})
