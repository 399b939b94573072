import t from 'tap'
import { limits } from '../../src/limits.js'
import { HeaderMemory } from '../../src/store/header-memory.js'

const textOf = (name: string) =>
  JSON.stringify({ version: 'v', name, areaCount: 1, documentBytes: 2 })

t.test('a header is that of the text that is there now', async (t) => {
  const memory = new HeaderMemory()
  const first = memory.parsed('a', textOf('one'))
  t.equal(memory.parsed('a', textOf('one')), first, 'parsed once')
  t.equal(memory.parsed('b', textOf('two')).name, 'two')
  t.equal(memory.parsed('a', textOf('three')).name, 'three')
  t.equal(memory.parsed('a', textOf('one')).name, 'one')
  t.equal(memory.charCount, textOf('one').length + textOf('two').length)
})

t.test('as many characters are kept as may, and at one more it begins anew', async (t) => {
  const memory = new HeaderMemory()
  const half = limits.headerMemoryCharCount / 2
  const longName = 'x'.repeat(half - textOf('').length)
  const [a, b] = [memory.parsed('a', textOf(longName)), memory.parsed('b', textOf(longName))]
  t.equal(memory.charCount, limits.headerMemoryCharCount)
  t.equal(memory.parsed('a', textOf(longName)), a)
  t.equal(memory.parsed('b', textOf(longName)), b)
  const c = memory.parsed('c', textOf(''))
  t.equal(memory.charCount, textOf('').length)
  t.not(memory.parsed('a', textOf(longName)), a, 'it is gone')
  t.equal(memory.parsed('c', textOf('')), c)
})

t.test('a header that alone is too long is not kept', async (t) => {
  const memory = new HeaderMemory()
  const text = textOf('x'.repeat(limits.headerMemoryCharCount))
  t.not(memory.parsed('a', text), memory.parsed('a', text))
  t.equal(memory.charCount, 0)
})
