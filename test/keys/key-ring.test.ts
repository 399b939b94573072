/**
 * Whose key a text is, and whether it lets anybody in.
 *
 * @module
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { certifyKey, finishRotation, revokeKey, rotateKey } from '../../src/keys/change-keys.js'
import { makeKeyId, makeKeyText, readKeyRecord } from '../../src/keys/key-record.js'
import { limits } from '../../src/limits.js'
import { accessFor, followed, keyFor, keysInMemory } from '../support/data/keys.js'
import { squareGeometry } from '../support/data/store.js'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const later = (ms: number) => new Date(NOW + ms).toISOString()

function verdict(keys: ReturnType<typeof keysInMemory>, text: string, nowMs = NOW) {
  const found = followed(keys).ring.verdictOf(text, nowMs)
  return 'access' in found ? found.access.keyName : found.rejection
}

t.test('a right text lets its key in, and every other text nobody', async (t) => {
  const keys = keysInMemory()
  const text = keyFor(keys, { name: 'desk' }, NOW)
  const other = keyFor(keys, { name: 'other' }, NOW)
  t.equal(verdict(keys, text), 'desk')
  t.equal(verdict(keys, other), 'other')
  t.equal(verdict(keys, text.slice(0, 14) + other.slice(14)), 'wrong', 'the secret of another key')
  t.equal(verdict(keys, makeKeyText(makeKeyId())), 'unknown')
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
      const changed = text.slice(0, at) + char + text.slice(at + 1)
      return changed === text || ['unknown', 'wrong'].includes(verdict(keys, changed) ?? '')
    }),
  )
  for (const strange of ['', text.slice(1), `${text} `, `${text}\n`, text.toUpperCase()]) {
    t.equal(verdict(keys, strange), 'unknown', JSON.stringify(strange))
  }
})

t.test('a key ends at its time, and not before', async (t) => {
  const keys = keysInMemory()
  const text = keyFor(keys, { name: 'desk', expiresAt: later(1_000) }, NOW)
  t.equal(verdict(keys, text, NOW + 999), 'desk')
  t.equal(verdict(keys, text, NOW + 1_000), 'expired')
  const found = followed(keys).ring.verdictOf(text, NOW)
  t.match(found, { untilMs: NOW + 1_000 }, 'so long it may be known by its header')
})

t.test('a key that is revoked lets nobody in', async (t) => {
  const keys = keysInMemory()
  const text = keyFor(keys, { name: 'desk' }, NOW)
  revokeKey(keys, 'desk', NOW)
  t.equal(verdict(keys, text), 'revoked')
  const { version } = keys.read()
  t.equal(revokeKey(keys, 'desk', NOW + 1), version, 'the first time counts')
  const again = keyFor(keys, { name: 'desk' }, NOW)
  t.equal(verdict(keys, again), 'desk', 'its name can be given again')
  t.equal(verdict(keys, text), 'unknown')
  t.equal(keys.records.size, 1)
})

t.test('two secrets live while a key is rotated', async (t) => {
  const keys = keysInMemory()
  const old = keyFor(keys, { name: 'desk' }, NOW)
  const { text } = rotateKey(keys, 'desk', { nowMs: NOW, keepMs: 1_000 })
  t.equal(verdict(keys, old, NOW + 999), 'desk')
  t.equal(verdict(keys, text, NOW + 999), 'desk')
  t.equal(verdict(keys, old, NOW + 1_000), 'replaced')
  t.equal(verdict(keys, text, NOW + 1_000), 'desk')
  const rotate = (nowMs: number) => rotateKey(keys, 'desk', { nowMs, keepMs: 1_000 })
  t.throws(() => rotate(NOW + 999), /two live secrets.*--finish/)
  finishRotation(keys, 'desk', NOW)
  t.equal(verdict(keys, old), 'wrong')
  t.equal(verdict(keys, text), 'desk')
  t.throws(() => finishRotation(keys, 'desk', NOW), /has one secret/)
  const third = rotate(NOW).text
  t.equal(verdict(keys, rotate(NOW + 1_000).text, NOW + 1_000), 'desk', 'what has ended is dropped')
  t.equal(verdict(keys, third, NOW + 1_000), 'desk')
  const places = JSON.parse([...keys.records.values()][0]).secrets.map(
    ({ place }: { place: number }) => place,
  )
  t.same(places.sort(), [0, 1])
  const now = rotateKey(keys, 'desk', { nowMs: NOW + 5_000, keepMs: 0 }).text
  t.equal(verdict(keys, third, NOW + 5_000), 'wrong', 'at once')
  t.equal(verdict(keys, now, NOW + 5_000), 'desk')
})

t.test('only a key that lives can be rotated, and only one that is there', async (t) => {
  const keys = keysInMemory()
  const times = { nowMs: NOW, keepMs: 0 }
  t.throws(() => rotateKey(keys, 'desk', times), /no key desk: there is none yet/)
  keyFor(keys, { name: 'ended', expiresAt: later(-1) }, NOW)
  t.throws(() => rotateKey(keys, 'ended', times), /is expired, and stays so/)
  t.throws(() => revokeKey(keys, 'desk', NOW), /no key desk: there are ended/)
  t.throws(() => keyFor(keys, { name: 'ended' }, NOW), /there is a key ended already/)
})

t.test('a damaged record lets nobody in, and no other key suffers', async (t) => {
  const keys = keysInMemory()
  const text = keyFor(keys, { name: 'desk' }, NOW)
  const fine = keyFor(keys, { name: 'fine' }, NOW)
  const [[id, json]] = keys.records
  const record = JSON.parse(json)
  const { hash } = record.secrets[0]
  const damages: unknown[] = [
    json.slice(0, -1),
    '',
    'null',
    '[]',
    { ...record, mayOnly: 'read' },
    { ...record, scopes: [] },
    { ...record, scopes: ['everything'] },
    { ...record, expiresAt: 'soon' },
    { ...record, expiresAt: null },
    { ...record, slot: limits.keyCount },
    { ...record, requestsPerSecond: 0 },
    { ...record, secrets: [] },
    { ...record, secrets: [{ ...record.secrets[0], hash: hash.slice(1) }] },
    { ...record, secrets: [{ ...record.secrets[0], endsAt: '' }] },
    { ...record, boundary: { type: 'Polygon', coordinates: [] } },
    { ...record, boundary: {} },
    { ...record, boundary: squareGeometry(0, 0, 1).rings },
  ]
  for (const damage of damages) {
    const damaged = typeof damage === 'string' ? damage : JSON.stringify(damage)
    t.equal(readKeyRecord(damaged), undefined, damaged.slice(0, 200))
    keys.records.set(id, damaged)
    t.equal(verdict(keys, text), 'unknown')
    t.equal(verdict(keys, fine), 'fine')
  }
  revokeKey(keys, id, NOW)
  t.notOk(keys.records.has(id), 'it is removed by its id')
})

t.test('what has not changed stays the same object', async (t) => {
  const keys = keysInMemory()
  const boundary = squareGeometry(0, 0, 1)
  const text = keyFor(keys, { name: 'desk', boundary }, NOW)
  const front = followed(keys)
  const accessOf = () => accessFor(front.ring, text, NOW)
  const before = accessOf()
  t.same(before?.boundary, boundary)
  keyFor(keys, {}, NOW)
  front.follow()
  t.equal(accessOf(), before)
  rotateKey(keys, 'desk', { nowMs: NOW, keepMs: 1_000 })
  front.follow()
  t.not(accessOf(), before)
  t.equal(accessOf()?.boundary, before?.boundary, 'the boundary has not changed')
  t.equal(accessFor(front.ring, text, NOW + 1_000), undefined)
  revokeKey(keys, 'desk', NOW)
  front.follow()
  t.equal(accessOf(), undefined)
})

t.test('scopes allow what they name, and admin everything', async (t) => {
  const keys = keysInMemory()
  const text = keyFor(keys, { name: 'desk', scopes: ['counts', 'contexts:read'] }, NOW)
  const chief = keyFor(keys, { name: 'chief', scopes: ['admin'] }, NOW)
  const { ring } = followed(keys)
  const desk = accessFor(ring, text, NOW)
  t.equal(desk?.allows('counts'), true)
  t.equal(desk?.allows('lists'), false)
  t.equal(desk?.allows('contexts:write'), false)
  t.equal(desk?.allows('admin'), false)
  t.equal(accessFor(ring, chief, NOW)?.allows('suppressions:write'), true)
})

t.test('a certificate stands for one key, as long as that lives', async (t) => {
  const keys = keysInMemory()
  const [first, second] = ['a', 'b'].map((digit) => digit.repeat(64))
  keyFor(keys, { name: 'desk', certificates: [first], expiresAt: later(1_000) }, NOW)
  keyFor(keys, { name: 'other' }, NOW)
  const nameOf = (certificate: string, nowMs = NOW) => {
    const verdict = followed(keys).ring.verdictOfCertificate(certificate, nowMs)
    if (verdict === undefined) return undefined
    return 'access' in verdict ? verdict.access.keyName : verdict.rejection
  }
  t.equal(nameOf(first), 'desk')
  t.equal(nameOf(second), undefined)
  t.equal(nameOf(first, NOW + 1_000), 'expired')
  const theft = /stands for the key desk already/
  t.throws(() => certifyKey(keys, 'other', [second, first], NOW), theft)
  t.throws(() => keyFor(keys, { name: 'third', certificates: [first] }, NOW), theft)
  certifyKey(keys, 'desk', [second], NOW)
  t.equal(nameOf(first), undefined)
  t.equal(nameOf(second), 'desk')
  certifyKey(keys, 'other', [first], NOW)
  t.equal(nameOf(first), 'other')
  revokeKey(keys, 'other', NOW)
  t.equal(nameOf(first), 'revoked')
  certifyKey(keys, 'desk', [], NOW)
  t.equal(nameOf(second), undefined)
  keyFor(keys, { name: 'next', certificates: [first] }, NOW)
  t.equal(nameOf(first), 'next')
  // Ids are random, and so is the order in which the two are read.
  const reversed = [...keys.records].reverse()
  keys.records.clear()
  for (const [id, json] of reversed) keys.records.set(id, json)
  t.equal(nameOf(first), 'next', 'and not the revoked key that had it')
})

t.test('there are so many keys and no more; the one revoked longest makes room', async (t) => {
  const keys = keysInMemory()
  keyFor(keys, { name: 'k0' }, NOW)
  const [json] = keys.records.values()
  // Not made one by one: each looks at all before it.
  for (let i = 1; i < limits.keyCount - 1; i++) {
    keys.records.set(makeKeyId(), JSON.stringify({ ...JSON.parse(json), name: `k${i}`, slot: i }))
  }
  keyFor(keys, { name: 'last' }, NOW)
  t.throws(() => keyFor(keys, { name: 'more' }, NOW), /1000 keys, which is the most/)
  revokeKey(keys, 'k7', NOW + 1)
  revokeKey(keys, 'k3', NOW)
  keyFor(keys, { name: 'more' }, NOW)
  const names = [...keys.records.values()].map((json) => JSON.parse(json).name)
  t.notOk(names.includes('k3'))
  t.ok(names.includes('k7') && names.includes('more'))
  const slots = new Set([...keys.records.values()].map((json) => JSON.parse(json).slot))
  t.equal(slots.size, limits.keyCount, 'each key has memory of its own')
})

t.test('all keys together take so many bytes', async (t) => {
  const keys = keysInMemory()
  const boundary = { ...squareGeometry(0, 0, 1), name: '' }
  const bytes = () => [...keys.records.values()].reduce((sum, json) => sum + json.length, 0)
  keyFor(keys, { name: 'a', boundary }, NOW)
  const perKey = bytes()
  const padded = (name: string, byteCount: number) =>
    keyFor(keys, { name, boundary: { ...boundary, name: 'x'.repeat(byteCount - perKey) } }, NOW)
  t.throws(() => padded('b', limits.keyRecordBytes - bytes() + 1), /all keys together would take/)
  padded('b', limits.keyRecordBytes - bytes())
  t.equal(bytes(), limits.keyRecordBytes)
  t.throws(() => keyFor(keys, { name: 'c' }, NOW), /simplify the boundary/)
  t.ok(rotateKey(keys, 'b', { nowMs: NOW, keepMs: 1 }), 'but no secret must stay for that')
})

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
