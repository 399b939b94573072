/**
 * Reading of JSV and JSON.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { parseJsv } from '../../src/format/jsv-parse.js'
import { limits } from '../../src/limits.js'
import { codePoint } from '../support/random/code-points.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const RUN_COUNT = byTier({ ci: 150, soak: 1_000 })

t.test('JSV is read, and its words become what JSON has for them', async (t) => {
  const cases: [text: string, value: unknown][] = [
    ['{type:FC,features:[{type:F}]}', { type: 'FC', features: [{ type: 'F' }] }],
    ['{countsOnly:True,a:FALSE,b:true}', { countsOnly: true, a: false, b: true }],
    ['[1,-2.5,1e2,0]', [1, -2.5, 100, 0]],
    ['[01,+1,.5,1.,0x1,NaN,Infinity,1_0]', '01 +1 .5 1. 0x1 NaN Infinity 1_0'.split(' ')],
    ['[null,Null,NULL]', [null, 'Null', 'NULL']],
    ['["true","1","null"]', ['true', '1', 'null']],
    ['{a:"b,""c"""}', { a: 'b,"c"' }],
    ['{a:"x\\",b:C:}', undefined],
    ['{a:"x\\",b:\\n}', { a: 'x\\', b: '\\n' }],
    ['{"a b" : 1 , c:[ ] , d:{ } }', { 'a b': 1, c: [], d: {} }],
    ['{ a : 1, b: x y }', { a: 1, b: ' x y ' }],
    ['{\r\n  a: 1,\r\n  b: [\r\n    x,\r\n    y\r\n  ]\r\n}', { a: 1, b: ['x', 'y'] }],
    ['{a:"x\r\ny"}', { a: 'x\r\ny' }],
    ['{a:1,a:2}', { a: 2 }],
    ["{'a':'b'}", { "'a'": "'b'" }],
    ['text', 'text'],
    ['', undefined],
    [' ', undefined],
    ['a,b', undefined],
    ['a:b', undefined],
    ['a\nb', undefined],
    ['{', undefined],
    ['{a', undefined],
    ['{a:', undefined],
    ['{a:1', undefined],
    ['{a:1]', undefined],
    ['{a}', undefined],
    ['{:1}', undefined],
    ['{a:}', undefined],
    ['{a:1,}', undefined],
    ['{a:1}}', undefined],
    ['{a:1}b', undefined],
    ['{a:b"c"}', undefined],
    ['{a:"b"c}', undefined],
    ['{a:"b}', undefined],
    ['{a:http://x}', undefined],
    ['{[a]:1}', undefined],
    ['[,]', undefined],
    ['[1,]', undefined],
    ['[1', undefined],
    ['[a b][c]', undefined],
    [']', undefined],
    [',', undefined],
  ]
  for (const [text, value] of cases) {
    if (value === undefined) t.throws(() => parseJsv(text), { code: 'InvalidJson' }, text)
    else t.strictSame(parseJsv(text), value, text)
  }
})

t.test('the error names the member and the place, and quotes nothing', async (t) => {
  const error = thrown('{secret:"+99912345678"x}', 'geoJSON')
  t.match(error, { code: 'InvalidJson', status: 400, field: 'geoJSON' })
  t.equal(
    error.message,
    'the value is neither JSON nor JSV: unexpected text or end at character 22',
  )
})

t.test('what is JSON means what JSON says', async (t) => {
  const seed = testSeed(t)
  const same = (text: string) => JSON.stringify(parseJsv(text)) === JSON.stringify(JSON.parse(text))
  fc.assert(fc.property(fc.json({ stringUnit: codePoint }), same), { seed, numRuns: RUN_COUNT })
  const spaced = fc.property(fc.jsonValue(), (value) => same(JSON.stringify(value, null, 2)))
  fc.assert(spaced, { seed, numRuns: RUN_COUNT })
  t.equal(parseJsv('"\\u0041\\n"'), 'A\n')
  t.strictSame(parseJsv('["a\\\\,b"]'), ['a\\,b'], 'JSON, though JSV could write it')
})

t.test('any text is read or refused; JSON is never refused', async (t) => {
  const signs = fc.string({ unit: fc.constantFrom(...'{}[],:"\\ \n\ta1-.eEtrunl+'), maxLength: 30 })
  const property = fc.property(signs, (text) => {
    const expected = jsonOf(text)
    try {
      const value = parseJsv(text)
      return expected === undefined || JSON.stringify(value) === JSON.stringify(expected.value)
    } catch (error) {
      return error instanceof ServiceError && expected === undefined
    }
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 800, soak: 20_000 }) })
})

t.test('a member __proto__ is a member like others', async (t) => {
  for (const text of ['{__proto__:{a:1}}', '{"__proto__":{"a":1}}']) {
    const value = parseJsv(text) as object
    t.same(Object.keys(value), ['__proto__'])
    t.equal(Object.getPrototypeOf(value), Object.prototype)
    t.equal('a' in value, false)
  }
})

t.test('nesting is bounded in both notations', async (t) => {
  const nested = (depth: number, inner: string) => '['.repeat(depth) + inner + ']'.repeat(depth)
  for (const inner of ['1', 'a']) {
    t.ok(parseJsv(nested(limits.jsonDepthCount, inner)))
    const error = thrown(nested(limits.jsonDepthCount + 1, inner), 'x')
    t.match(error, { code: 'InvalidJson', field: 'x', message: /nests deeper than 64 levels/ })
  }
  t.match(thrown('{a:'.repeat(1_000_000)), { message: /nests deeper/ })
  t.ok(parseJsv(`["${'['.repeat(1000)}"]`), 'not what is in a text')
})

t.test('the number of members and elements is bounded in both notations', async (t) => {
  for (const word of ['0', 'a']) {
    const members = (count: number) =>
      `{${Array.from({ length: count }, (_, i) => `"${i}":${word}`).join()}}`
    t.ok(parseJsv(members(limits.jsonMemberCount)))
    t.match(thrown(members(limits.jsonMemberCount + 1), 'x'), {
      code: 'TooComplex',
      field: 'x',
      message: /more than 65536 members/,
    })
    // The list, and the commas between its elements.
    const elements = (itemCount: number) => `[${word}${`,${word}`.repeat(itemCount - 1)}]`
    t.ok(parseJsv(elements(limits.jsonItemCount)))
    t.match(thrown(elements(limits.jsonItemCount + 1)), { code: 'TooComplex' })
  }
  t.ok(parseJsv(`{a:"${',:'.repeat(limits.jsonItemCount)}"}`), 'not those in a text')
})

function jsonOf(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function thrown(text: string, field?: string): ServiceError {
  try {
    parseJsv(text, field)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

t.test('a number that would come out otherwise stays the text that it is', async (t) => {
  const text = '{Id:12345678901234567890,Price:1.50,Zip:007,Count:12,Share:-0.5,Large:1e5}'
  t.same(parseJsv(text), {
    Id: '12345678901234567890',
    Price: '1.50',
    Zip: '007',
    Count: 12,
    Share: -0.5,
    Large: '1e5',
  })
})
