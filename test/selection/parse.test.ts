import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { member, parse } from '../../src/selection/parse.js'

const bytes = (text: string) => new TextEncoder().encode(text)

t.test('an object is read, and an empty body is an empty object', async (t) => {
  t.same(parse(bytes('{"a":[1,{"b":null}]}')), { a: [1, { b: null }] })
  t.same(parse(bytes('')), {})
  t.same(parse(bytes(' \r\n\t')), {})
})

t.test('what is not a JSON object is refused, and never quoted', async (t) => {
  const cases: [body: string, code: string, message: RegExp][] = [
    ['secret', 'InvalidJson', /not JSON/],
    ['{"a":1', 'InvalidJson', /not JSON/],
    ['{"a":1,}', 'InvalidJson', /not JSON.*character 7/],
    ['{"a":NaN}', 'InvalidJson', /not JSON/],
    ['{"a":1} {"b":2}', 'InvalidJson', /not JSON/],
    ["{'a':1}", 'InvalidJson', /not JSON/],
    ['[]', 'InvalidRequest', /JSON object, not an array/],
    ['[{}]', 'InvalidRequest', /JSON object, not an array/],
    ['null', 'InvalidRequest', /JSON object, not null/],
    ['"secret"', 'InvalidRequest', /JSON object, not a string/],
    ['12', 'InvalidRequest', /JSON object, not a number/],
  ]
  for (const [body, code, message] of cases) {
    const error = thrown(() => parse(bytes(body)))
    t.equal(error.code, code, body)
    t.match(error.message, message, body)
    t.notMatch(error.message, /secret/, body)
    t.equal(error.status, 400)
  }
})

t.test('a body that is not UTF-8 is refused', async (t) => {
  t.match(thrown(() => parse(Uint8Array.of(0x7b, 0xff, 0x7d))).message, /not UTF-8/)
})

t.test('nesting is bounded, brackets in strings aside', async (t) => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  t.ok(parse(bytes(nested(limits.jsonDepthCount))))
  t.match(thrown(() => parse(bytes(nested(limits.jsonDepthCount + 1)))).message, /deeper than 64/)
  t.ok(parse(bytes(`{"a":"${'['.repeat(1000)}\\"${'{'.repeat(1000)}"}`)))
})

t.test('the number of members and elements is bounded', async (t) => {
  const members = (count: number) =>
    `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join()}}`
  t.ok(parse(bytes(members(limits.jsonMemberCount))))
  const error = thrown(() => parse(bytes(members(limits.jsonMemberCount + 1))))
  t.match(error, { code: 'TooComplex', status: 422, message: /more than 65536 members/ })
  // The object, the array, and the commas between its elements.
  const elements = (itemCount: number) => `{"a":[0${',0'.repeat(itemCount - 2)}]}`
  t.ok(parse(bytes(elements(limits.jsonItemCount))))
  t.match(
    thrown(() => parse(bytes(elements(limits.jsonItemCount + 1)))),
    { code: 'TooComplex' },
  )
  t.ok(parse(bytes(`{"a":"${',:'.repeat(limits.jsonItemCount)}"}`)), 'not those in a text')
})

t.test('members are found in any case, and a name given twice is refused', async (t) => {
  t.equal(member({ CountsOnly: true }, 'countsonly'), true)
  t.equal(member({ Shapes: 1 }, 'features', 'shapes'), 1)
  t.equal(member({}, 'features'), undefined)
  t.equal(member(JSON.parse('{"__proto__":{"features":1}}'), 'features'), undefined)
  const error = thrown(() => member({ features: 1, Shapes: 2 }, 'features', 'shapes'))
  t.match(error, { code: 'InvalidRequest', message: /features is given twice, also as Shapes/ })
})

function thrown(run: () => unknown): ServiceError {
  try {
    run()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
