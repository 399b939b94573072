/**
 * The key in a header, what looks like one elsewhere, and addresses that send wrong keys.
 *
 * @module
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { ServiceError, TooManyRequests } from '../../src/errors.js'
import { isBasic, KeyGuard } from '../../src/http/authenticate.js'
import { HttpRequest } from '../../src/http/request.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { privatePage } from '../../src/metrics/memory.js'
import { followed, keyFor, keysInMemory } from '../support/data/keys.js'
import { codePoint } from '../support/random/code-points.js'

const NOW = 1_000_000
const { keyGuessCount, keyGuessMs, keyGuesserCount } = limits

function startGuard() {
  const keys = keysInMemory()
  const key = keyFor(keys)
  const guard = new KeyGuard({
    keys: followed(keys),
    log: createLog('silent'),
    page: privatePage(),
  })
  return { guard, key }
}

/** A request of an address with this header. */
function requestWith(authorization: string, peerAddress = '203.0.113.9'): HttpRequest {
  return {
    clientCertificate: undefined,
    hasKeyInQuery: false,
    header: (name: string) => (name === 'authorization' ? authorization : undefined),
    peerAddress,
  } as unknown as HttpRequest
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const { guard, key } = startGuard()
const isAdmitted = (header: string) => guard.admit(requestWith(header)) === undefined

t.test('a right key is found for every user and scheme', async () => {
  const user = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(':'))
  const scheme = (name: string) => fc.mixedCase(fc.constant(name))
  fc.assert(
    fc.property(user, scheme('basic'), (name, basic) =>
      isAdmitted(`${basic} ${base64(`${name}:${key}`)}`),
    ),
  )
  fc.assert(fc.property(scheme('bearer'), (bearer) => isAdmitted(`${bearer} ${key}`)))
})

t.test('another header is no key, and nothing fails', async (t) => {
  for (const header of [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    `Digest ${key}`,
    key,
    `Bearer ${key} ${key}`,
  ]) {
    t.ok(guard.admit(requestWith(header)) instanceof ServiceError, header)
  }
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) =>
      [text, `Basic ${text}`, `Bearer ${text}`].every((header) => !isAdmitted(header)),
    ),
  )
})

t.test('browsers keep Basic, and no Bearer', async (t) => {
  t.equal(isBasic(`Basic ${base64(`a:${key}`)}`), true)
  t.equal(isBasic(`bAsIc x`), true)
  t.equal(isBasic(`Bearer ${key}`), false)
})

t.test('a key is seen in a query, and no other text is taken for one', async (t) => {
  const hasKey = (query: string) => {
    const native = {
      getUrl: () => '/',
      getQuery: () => query,
      getCaseSensitiveMethod: () => 'GET',
      forEach() {},
    }
    return new HttpRequest(native, {} as never, {} as never).hasKeyInQuery
  }
  t.equal(hasKey(`a=b&token=${key}`), true)
  t.equal(hasKey(key.replaceAll('_', '%5F')), true)
  t.equal(hasKey(key.slice(0, 30)), true, 'also a part of one')
  for (const text of ['', 'hk_', 'hk_a_b', 'Name=hk', 'geoJSON={"x":1}', 'a'.repeat(10_000)]) {
    t.equal(hasKey(text), false, text.slice(0, 20))
  }
})

/**
 * An own guard, to which addresses send wrong keys.
 *
 * @returns how long an address is to wait with the next one; 0 where this one was looked up
 */
function guesses(t: Test): (address: string, atMs?: number) => number {
  const { guard } = startGuard()
  let nowMs = NOW
  t.intercept(Date, 'now', { value: () => nowMs })
  return (address, atMs = NOW) => {
    nowMs = atMs
    const fault = guard.admit(requestWith('Bearer wrong', address))
    if (fault instanceof TooManyRequests) return fault.retryAfterMs
    t.equal(fault?.code, 'Unauthorized')
    return 0
  }
}

/** As many wrong keys as an address may send at once. */
function useUp(guess: ReturnType<typeof guesses>, address: string): void {
  for (let i = 0; i < keyGuessCount; i++) guess(address)
}

t.test('some guesses are free, then there is one in a while', async (t) => {
  const guess = guesses(t)
  for (let i = 0; i < keyGuessCount; i++) t.equal(guess('203.0.113.9'), 0)
  t.equal(guess('203.0.113.9'), keyGuessMs)
  t.equal(guess('203.0.113.9', NOW + keyGuessMs - 1), 1)
  t.equal(guess('203.0.113.9', NOW + keyGuessMs), 0)
  t.equal(guess('203.0.113.9', NOW + keyGuessMs), keyGuessMs)
  const later = NOW + 3_600_000
  t.equal(guess('203.0.113.9', later), 0, 'an hour makes good')
  t.equal(guess('203.0.113.9', later), 0)
})

t.test('an address stands for itself; of IPv6, for its network', async (t) => {
  const guess = guesses(t)
  useUp(guess, '203.0.113.9')
  t.equal(guess('203.0.113.10'), 0)
  useUp(guess, '2001:0db8:0000:0001:0000:0000:0000:0001')
  t.equal(guess('2001:0db8:0000:0001:ffff:0000:0000:0002'), keyGuessMs)
  t.equal(guess('2001:0db8:0000:0002:0000:0000:0000:0001'), 0)
  const mapped = (last: string) => `0000:0000:0000:0000:0000:ffff:cb00:${last}`
  useUp(guess, mapped('7109'))
  t.equal(guess(mapped('7109')), keyGuessMs)
  t.equal(guess(mapped('710a')), 0, 'IPv4 in IPv6 is IPv4')
})

t.test('so many addresses are remembered, and the longest quiet one is evicted', async (t) => {
  const guess = guesses(t)
  useUp(guess, 'first')
  for (let i = 0; i < keyGuesserCount - 1; i++) guess(`10.0.${i >> 8}.${i & 255}`)
  t.equal(guess('first'), keyGuessMs)
  guess('one more')
  t.equal(guess('first'), 0)
})
