/**
 * What an operator writes of a key: at the bound, and one past it.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  boundaryIn,
  certificateIn,
  expiryOf,
  keepMsOf,
  keyNameOf,
  scopesOf,
  wholeNumberOf,
} from '../../../src/commands/keys/key-options.js'
import { keyScopes } from '../../../src/interface/key-scopes.js'
import { limits } from '../../../src/limits.js'
import { squareGeometry } from '../../support/data/store.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const USAGE = { code: 'Usage' }

t.test('names are short, and stand anywhere', async (t) => {
  const longest = 'a'.repeat(limits.keyNameCharCount)
  for (const name of ['a', '0', 'desk-3', 'a.b_c-d', longest]) t.equal(keyNameOf(name), name)
  for (const name of ['', '-a', '.a', 'A', 'a b', 'a/b', 'a\n', 'ä', `${longest}a`]) {
    t.throws(() => keyNameOf(name), USAGE, JSON.stringify(name))
  }
})

t.test('scopes are those of the interface, or both of a pair', async (t) => {
  for (const scope of keyScopes) t.same(scopesOf(scope), [scope])
  t.same(scopesOf(keyScopes.join(',')), keyScopes)
  t.same(scopesOf('contexts'), ['contexts:read', 'contexts:write'])
  t.same(scopesOf(' counts , contexts , contexts:read,counts'), [
    'counts',
    'contexts:read',
    'contexts:write',
  ])
  for (const text of [
    '',
    ',',
    'counts,',
    'count',
    'Counts',
    'contexts:',
    'contexts:delete',
    'all',
  ]) {
    t.throws(() => scopesOf(text), USAGE, text)
  }
})

t.test('a key ends after the day that is named, at a time, or after some time', async (t) => {
  for (const [text, end] of [
    ['2027-01-31', '2027-02-01T00:00:00.000Z'],
    ['2026-11-22', '2026-11-23T00:00:00.000Z'],
    ['2028-02-29', '2028-03-01T00:00:00.000Z'],
    ['2027-01-31T12:00Z', '2027-01-31T12:00:00.000Z'],
    ['2027-01-31T12:00:30+02:00', '2027-01-31T10:00:30.000Z'],
    ['90d', '2027-02-20T12:00:00.000Z'],
    ['12h', '2026-11-23T00:00:00.000Z'],
    ['1m', '2026-11-22T12:01:00.000Z'],
  ]) {
    t.equal(expiryOf(text, NOW), end, text)
  }
  for (const text of ['2026-11-21', '2026-11-22T12:00Z', '2020-01-01']) {
    t.throws(() => expiryOf(text, NOW), /is over already/, text)
  }
  for (const text of [
    ...['', '0d', '90', 'd', '-1d', '1.5d', '1w', 'never', '2027-02-29', '2027-13-01', '2027-1-1'],
    ...['31.01.2027', '2027-01-31T12:00', '2027-01-31 12:00Z', '999999999d', 'Sunday'],
  ]) {
    t.throws(() => expiryOf(text, NOW), USAGE, text)
  }
})

t.test('an old secret lives for a while, and not for ever', async (t) => {
  t.equal(keepMsOf(undefined), limits.keyRotationMs)
  t.equal(keepMsOf('0'), 0)
  t.equal(keepMsOf('90d'), limits.keyRotationMaxMs)
  for (const text of ['91d', '0d', '', 'for ever']) t.throws(() => keepMsOf(text), USAGE, text)
})

t.test('bounds are whole numbers', async (t) => {
  const max = limits.keyRowsPerDayCount
  t.equal(wholeNumberOf('1', '--rows-per-day', max), 1)
  t.equal(wholeNumberOf(String(max), '--rows-per-day', max), max)
  for (const text of [String(max + 1), '0', '-1', '1e3', '1.5', '', ' 1', '1,000']) {
    t.throws(() => wholeNumberOf(text, '--rows-per-day', max), /--rows-per-day must be/, text)
  }
})

t.test('a device that has no end is no boundary, and no certificate', async (t) => {
  t.throws(() => boundaryIn('/dev/zero'), { code: 'InputRejected', message: /bytes: simplify it/ })
  t.throws(() => certificateIn('/dev/zero'), {
    code: 'InputRejected',
    message: /is no certificate/,
  })
})

t.test('a boundary is a file of so many bytes', async (t) => {
  const file = join(temporaryDirectory(t), 'boundary.json')
  const square = JSON.stringify(squareGeometry(0, 0, 1))
  writeFileSync(file, square.padEnd(limits.keyBoundaryBytes))
  t.same(boundaryIn(file), squareGeometry(0, 0, 1))
  writeFileSync(file, square.padEnd(limits.keyBoundaryBytes + 1))
  t.throws(() => boundaryIn(file), { code: 'InputRejected', message: /bytes.*simplify it/ })
  for (const text of ['', '{', '[]', 'null', '1', '{"type":"Polygon","coordinates":[]}']) {
    writeFileSync(file, text)
    t.throws(() => boundaryIn(file), { code: 'InputRejected', message: /no key was made/ }, text)
  }
})
