/**
 * What names in a drawing are like, and that few of them are remembered.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../../src/limits.js'
import {
  likenessOfMember,
  likenessOfProperty,
} from '../../../src/selection/shapes/strange-names.js'

t.test('properties and members', async (t) => {
  t.same(likenessOfProperty('radiusKm'), { kind: 'property', names: ['radius'] })
  t.same(likenessOfProperty('Counts_Only'), { kind: 'request', name: 'countsOnly' })
  t.equal(likenessOfProperty('colour'), undefined)
  t.same(likenessOfMember('propertees'), { kind: 'member', name: 'properties' })
  t.same(likenessOfMember('excluded'), { kind: 'property', names: ['exclude'] })
  t.equal(likenessOfMember('bbox'), undefined)
})

t.test('names that are forgotten are like the same as before', async (t) => {
  const names = Array.from({ length: 2 * limits.knownNameCount }, (_, i) => `name${i}`)
  for (const name of [...names, ...names]) t.equal(likenessOfProperty(name), undefined)
  t.same(likenessOfProperty('radiusKm'), { kind: 'property', names: ['radius'] })
})

t.test('a name that is too long is like nothing', async (t) => {
  const longest = `radius_${'k'.repeat(limits.memberNameCharCount - 7)}`
  t.same(likenessOfProperty(longest), { kind: 'property', names: ['radius'] })
  t.equal(likenessOfProperty(`${longest}k`), undefined)
})
