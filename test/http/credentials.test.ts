/**
 * The key in a header, and what looks like one elsewhere.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { holdsKey, isBasic, keyTextOf } from '../../src/http/credentials.js'
import { makeKeyId, makeKeyText } from '../../src/keys/key-record.js'
import { codePoint } from '../support/random/code-points.js'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const key = makeKeyText(makeKeyId())

t.test('a key is found whoever sends it', async () => {
  const user = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(':'))
  const scheme = (name: string) => fc.mixedCase(fc.constant(name))
  fc.assert(
    fc.property(user, scheme('basic'), (name, basic) => {
      return keyTextOf(`${basic} ${base64(`${name}:${key}`)}`) === key
    }),
  )
  fc.assert(fc.property(scheme('bearer'), (bearer) => keyTextOf(`${bearer} ${key}`) === key))
})

t.test('whatever else a header holds is no key, and nothing fails', async (t) => {
  for (const header of [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    `Digest ${key}`,
    key,
    `Bearer ${key} ${key}`,
  ]) {
    t.equal(keyTextOf(header), undefined, header)
  }
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      const found = [keyTextOf(text), keyTextOf(`Basic ${text}`), keyTextOf(`Bearer ${text}`)]
      return found.every((each) => each !== key)
    }),
  )
})

t.test('browsers keep Basic, and no Bearer', async (t) => {
  t.equal(isBasic(`Basic ${base64(`a:${key}`)}`), true)
  t.equal(isBasic(`bAsIc x`), true)
  t.equal(isBasic(`Bearer ${key}`), false)
})

t.test('a key is seen in a text, and no other text is taken for one', async (t) => {
  t.equal(holdsKey(`a=b&token=${key}`), true)
  t.equal(holdsKey(key.replaceAll('_', '%5F')), true)
  t.equal(holdsKey(key.slice(0, 30)), true, 'also a part of one')
  for (const text of ['', 'hk_', 'hk_a_b', 'Name=hk', 'geoJSON={"x":1}', 'a'.repeat(10_000)]) {
    t.equal(holdsKey(text), false, text.slice(0, 20))
  }
})
