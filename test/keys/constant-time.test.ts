/**
 * Whatever is wrong with a text, the same is done to find that out: one hash, and two comparisons that take
 * the same time whatever they compare.
 *
 * @module
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { revokeKey, rotateKey } from '../../src/keys/change-keys.js'
import { makeKeyId, makeKeyText } from '../../src/keys/secret.js'
import { followed, keyFor, keysInMemory } from '../support/data/keys.js'

t.test('a text costs one hash and two comparisons', async (t) => {
  const { hash, timingSafeEqual } = crypto
  const done = { hashes: 0, comparisons: 0 }
  t.teardown(() => {
    Object.assign(crypto, { hash, timingSafeEqual })
    syncBuiltinESMExports()
  })
  const keys = keysInMemory()
  const nowMs = Date.now()
  const one = keyFor(keys, { name: 'one' })
  const old = keyFor(keys, { name: 'two' })
  const { text: other } = rotateKey(keys, 'two', { nowMs, keepMs: 60_000 })
  const revoked = keyFor(keys, { name: 'revoked' })
  revokeKey(keys, 'revoked', nowMs)
  const expired = keyFor(keys, { name: 'expired', expiresAt: new Date(nowMs - 1).toISOString() })
  const { ring } = followed(keys)
  const counting = {
    hash: (...args: Parameters<typeof hash>) => {
      done.hashes++
      return hash(...args)
    },
    timingSafeEqual: (...args: Parameters<typeof timingSafeEqual>) => {
      done.comparisons++
      return timingSafeEqual(...args)
    },
  }
  Object.assign(crypto, counting)
  syncBuiltinESMExports()
  const texts = {
    'a right one': one,
    'an old secret': old,
    'a new secret': other,
    'a wrong secret': makeKeyText(one.slice(3, 13)),
    'a wrong secret of a key with two': makeKeyText(old.slice(3, 13)),
    'an id that is not there': makeKeyText(makeKeyId()),
    'a key that is revoked': revoked,
    'a key that has expired': expired,
    'no text of a key': 'password',
    nothing: '',
  }
  for (const [what, text] of Object.entries(texts)) {
    Object.assign(done, { hashes: 0, comparisons: 0 })
    ring.verdictOf(text, nowMs)
    t.same(done, { hashes: 1, comparisons: 2 }, what)
  }
})
