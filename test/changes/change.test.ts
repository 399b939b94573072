import t from 'tap'
import { ChangeFault, type ChangeRules, identityOf, readChange } from '../../src/changes/change.js'
import { limits } from '../../src/limits.js'
import { E164Numbers } from '../../src/sources/rows/e164.js'

const plain: ChangeRules = { hasKeys: false, allowsNullIsland: false, numbers: undefined }
const keyed: ChangeRules = { ...plain, hasKeys: true }
const row = { op: 'upsert', number: '+9991', lat: 29.76, lng: -95.36 }

t.test('an upsert is read into units, with who is meant', async (t) => {
  t.same(readChange(JSON.stringify({ ...row, contact: 'c1' }), plain), {
    op: 'upsert',
    identity: identityOf('+9991', 'c1'),
    phone: '+9991',
    lat: 297_600_000,
    lng: -953_600_000,
    contact: 'c1',
    key: undefined,
  })
  t.match(readChange(JSON.stringify({ ...row, key: 'k1' }), keyed), { identity: 'k1', key: 'k1' })
  t.match(readChange(JSON.stringify({ ...row, number: 9_991, key: 7 }), keyed), {
    phone: '9991',
    key: '7',
  })
  for (const contact of [undefined, null, '', '  ', '\u00a0']) {
    const change = readChange(JSON.stringify({ ...row, contact }), plain)
    t.match(change, { contact: '', identity: identityOf('+9991', '') })
  }
})

t.test('a delete says who is meant and nothing else', async (t) => {
  const read = (members: object, rules: ChangeRules) =>
    readChange(JSON.stringify({ op: 'delete', ...members }), rules)
  t.same(read({ number: '+9991', contact: 'c1' }, plain), {
    op: 'delete',
    identity: identityOf('+9991', 'c1'),
  })
  t.same(read({ number: '+9991' }, plain), { op: 'delete', identity: identityOf('+9991', '') })
  t.same(read({ key: 'k1' }, keyed), { op: 'delete', identity: 'k1' })
})

t.test('whatever is wrong with a row is said, without its number and position', async (t) => {
  const faults: readonly (readonly [text: string, rules: ChangeRules, RegExp])[] = [
    ['', plain, /not JSON/],
    ['{', plain, /not JSON/],
    ['[]', plain, /not a JSON object/],
    ['null', plain, /not a JSON object/],
    ['{}', plain, /"op" must be "upsert" or "delete"/],
    ['{"op":"Upsert"}', plain, /"op" must be/],
    [JSON.stringify({ ...row, lat: undefined }), plain, /"lat" is missing/],
    [JSON.stringify({ ...row, lng: '-95.36' }), plain, /"lng" must be a number of degrees/],
    ['{"op":"upsert","number":"+9991","lat":1e999,"lng":1}', plain, /"lat" must be a number of/],
    [JSON.stringify({ ...row, lat: 90.1 }), plain, /latitude is not between/],
    [JSON.stringify({ ...row, lng: -180.1 }), plain, /longitude is not between/],
    [JSON.stringify({ ...row, lat: 0, lng: 0 }), plain, /exactly 0,0/],
    [JSON.stringify({ ...row, number: '' }), plain, /number is missing/],
    [JSON.stringify({ ...row, number: '=1+1' }), plain, /starts with =/],
    [JSON.stringify({ ...row, number: 1.5 }), plain, /"number" must be a text or a whole number/],
    [JSON.stringify({ ...row, number: 2 ** 60 }), plain, /"number" must be|lost digits/],
    [JSON.stringify({ ...row, number: true }), plain, /"number" must be a text/],
    [JSON.stringify({ ...row, contact: {} }), plain, /"contact" must be a text/],
    [JSON.stringify({ ...row, contact: '\ud800' }), plain, /"contact" is not Unicode text/],
    [
      JSON.stringify({ ...row, latitude: 1 }),
      plain,
      /"latitude" is no member of it; its members are/,
    ],
    [JSON.stringify({ ...row, key: 'k' }), plain, /the source has no keys/],
    [JSON.stringify(row), keyed, /"key" is missing/],
    [JSON.stringify({ ...row, key: ' ' }), keyed, /key is missing or only white space/],
    [JSON.stringify({ ...row, key: null }), keyed, /"key" must be a text/],
    ['{"op":"delete"}', plain, /"number" is missing/],
    ['{"op":"delete"}', keyed, /"key" is missing/],
    ['{"op":"delete","key":"k","number":"+9991"}', keyed, /"key" and nothing else/],
    ['{"op":"delete","number":"+9991","lat":1}', plain, /"lat" is no member/],
  ]
  for (const [text, rules, message] of faults) {
    const fault = faultOf(() => readChange(text, rules))
    t.ok(fault instanceof ChangeFault, text)
    t.match(fault?.message, message)
    t.notMatch(fault?.message, /9991|29\.76|95\.36|90\.1|180\.1/)
  }
})

t.test('texts are as long as the texts of imports, and not longer', async (t) => {
  const texts = [
    ['number', limits.phoneBytes, '9'],
    ['contact', limits.contactBytes, 'c'],
    ['key', limits.keyBytes, 'k'],
  ] as const
  for (const [name, byteCount, letter] of texts) {
    const of = (length: number) =>
      JSON.stringify({ ...row, key: 'k', [name]: letter.repeat(length) })
    t.ok(readChange(of(byteCount), keyed))
    t.throws(() => readChange(of(byteCount + 1), keyed), { message: /longer than/ }, name)
  }
})

t.test('0,0 is a place, and numbers become E.164, where that is wanted', async (t) => {
  const zero = JSON.stringify({ ...row, lat: 0, lng: -0 })
  t.match(readChange(zero, { ...plain, allowsNullIsland: true }), { lat: 0, lng: 0 })
  const numbers = new E164Numbers('US')
  const read = (number: string) =>
    readChange(JSON.stringify({ ...row, number }), { ...plain, numbers })
  t.match(read('(555) 555-0101'), { phone: '+15555550101' })
  t.throws(() => read('12'), { message: /cannot be dialled|can be dialled/ })
})

function faultOf(work: () => unknown): Error | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return error as Error
  }
}
