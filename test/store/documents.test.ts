/**
 * The forms of a Guid, and the cache of headers.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { HeaderCache, parseGuid, writtenContext } from '../../src/store/documents.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const DASHED = '4c1f9a2e-7b6d-4e0f-9a3b-5c8d1e2f7a60'
const PARTS = '{0x4c1f9a2e,0x7b6d,0x4e0f,{0x9a,0x3b,0x5c,0x8d,0x1e,0x2f,0x7a,0x60}}'

t.test('every usual form is understood, in any case', async (t) => {
  for (const form of [ID, DASHED, `{${DASHED}}`, `(${DASHED})`, PARTS]) {
    t.equal(parseGuid(form), ID, form)
    t.equal(parseGuid(form.toUpperCase()), ID, form)
  }
})

t.test('nothing else is', async (t) => {
  const invalid = ['', 'x', `${ID}0`, ID.slice(1), `{${ID}}`, `{${DASHED})`, `{${DASHED}`]
  for (const broken of [
    PARTS.replace(',0x60', ''),
    PARTS.slice(1),
    PARTS.replace('0x9a', '0x9aa'),
  ]) {
    t.equal(parseGuid(broken), undefined, broken)
  }
  for (const text of [...invalid, ` ${DASHED}`, `${DASHED}\n`, DASHED.replace('4', 'g')]) {
    t.equal(parseGuid(text), undefined, text)
  }
})

t.test('parts in hexadecimal may leave out zeros', async (t) => {
  const short = '{0x1,0x2,0x3,{0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb}}'
  t.equal(parseGuid(short), '00000001000200030405060708090a0b')
})

t.test('new ones are Guids, and not the same', async (t) => {
  const [left, right] = [writtenContext({}).id, writtenContext({}).id]
  t.equal(parseGuid(left), left)
  t.not(left, right)
})

const textOf = (name: string) =>
  JSON.stringify({ version: 'v', name, areaCount: 1, documentBytes: 2 })

t.test('a header is that of the text that is there now', async (t) => {
  const cache = new HeaderCache()
  const first = cache.parsed('a', textOf('one'))
  t.equal(cache.parsed('a', textOf('one')), first, 'parsed once')
  t.equal(cache.parsed('b', textOf('two')).name, 'two')
  t.equal(cache.parsed('a', textOf('three')).name, 'three')
  t.equal(cache.parsed('a', textOf('one')).name, 'one')
  t.equal(cache.charCount, textOf('one').length + textOf('two').length)
})

t.test('as many characters are cached as may be, and at one more it begins anew', async (t) => {
  const cache = new HeaderCache()
  const half = limits.headerMemoryCharCount / 2
  const longName = 'x'.repeat(half - textOf('').length)
  const [a, b] = [cache.parsed('a', textOf(longName)), cache.parsed('b', textOf(longName))]
  t.equal(cache.charCount, limits.headerMemoryCharCount)
  t.equal(cache.parsed('a', textOf(longName)), a)
  t.equal(cache.parsed('b', textOf(longName)), b)
  const c = cache.parsed('c', textOf(''))
  t.equal(cache.charCount, textOf('').length)
  t.not(cache.parsed('a', textOf(longName)), a, 'it is gone')
  t.equal(cache.parsed('c', textOf('')), c)
})

t.test('a header that alone is too long is not cached', async (t) => {
  const cache = new HeaderCache()
  const text = textOf('x'.repeat(limits.headerMemoryCharCount))
  t.not(cache.parsed('a', text), cache.parsed('a', text))
  t.equal(cache.charCount, 0)
})
