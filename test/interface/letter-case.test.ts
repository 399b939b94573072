/**
 * How far names are looked at.
 *
 * @module
 */
import t from 'tap'
import { lowerCase } from '../../src/interface/letter-case.js'
import { operations } from '../../src/interface/operations.js'
import { limits } from '../../src/limits.js'

t.test('a name is put into lower case up to a length, and one past it is left alone', async (t) => {
  const longest = 'A'.repeat(limits.memberNameCharCount)
  t.equal(lowerCase(longest), longest.toLowerCase())
  t.equal(lowerCase(`${longest}A`), `${longest}A`)
})

t.test('no member of the interface has a longer name', async (t) => {
  const names = new Set<string>()
  JSON.stringify(operations, (_, value) => {
    for (const name of Object.keys(value?.properties ?? {})) names.add(name)
    return value
  })
  t.ok(names.size > 100)
  t.same(
    [...names].filter((name) => name.length > limits.memberNameCharCount),
    [],
  )
})
