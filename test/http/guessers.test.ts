/**
 * Addresses that send wrong keys: at the bound, and one past it.
 *
 * @module
 */
import t from 'tap'
import { Guessers } from '../../src/http/guessers.js'
import { limits } from '../../src/limits.js'

const NOW = 1_000_000
const { keyGuessCount, keyGuessMs, keyGuesserCount } = limits

function guessed(count: number, address = '203.0.113.9', nowMs = NOW): Guessers {
  const guessers = new Guessers()
  for (let i = 0; i < count; i++) guessers.note(address, nowMs)
  return guessers
}

t.test('some guesses are free, then there is one in a while', async (t) => {
  t.equal(guessed(keyGuessCount - 1).waitMs('203.0.113.9', NOW), 0)
  const guessers = guessed(keyGuessCount)
  t.equal(guessers.waitMs('203.0.113.9', NOW), keyGuessMs)
  t.equal(guessers.waitMs('203.0.113.9', NOW + keyGuessMs - 1), 1)
  t.equal(guessers.waitMs('203.0.113.9', NOW + keyGuessMs), 0)
  guessers.note('203.0.113.9', NOW + keyGuessMs)
  t.equal(guessers.waitMs('203.0.113.9', NOW + keyGuessMs), keyGuessMs)
  const later = NOW + 3_600_000
  t.equal(guessers.waitMs('203.0.113.9', later), 0, 'an hour makes good')
  guessers.note('203.0.113.9', later)
  t.equal(guessers.waitMs('203.0.113.9', later), 0)
})

t.test('an address stands for itself; of IPv6, for its network', async (t) => {
  t.equal(guessed(keyGuessCount).waitMs('203.0.113.10', NOW), 0)
  const own = '2001:0db8:0000:0001:0000:0000:0000:0001'
  const v6 = guessed(keyGuessCount, own)
  t.equal(v6.waitMs('2001:0db8:0000:0001:ffff:0000:0000:0002', NOW), keyGuessMs)
  t.equal(v6.waitMs('2001:0db8:0000:0002:0000:0000:0000:0001', NOW), 0)
  const mapped = (last: string) => `0000:0000:0000:0000:0000:ffff:cb00:${last}`
  const v4 = guessed(keyGuessCount, mapped('7109'))
  t.equal(v4.waitMs(mapped('7109'), NOW), keyGuessMs)
  t.equal(v4.waitMs(mapped('710a'), NOW), 0, 'IPv4 in IPv6 is IPv4')
})

t.test(
  'so many addresses are remembered; the one that was quiet longest is forgotten',
  async (t) => {
    const guessers = guessed(keyGuessCount, 'first')
    const fill = (count: number) => {
      for (let i = 0; i < count; i++) guessers.note(`10.0.${i >> 8}.${i & 255}`, NOW)
    }
    fill(keyGuesserCount - 1)
    t.equal(guessers.waitMs('first', NOW), keyGuessMs)
    guessers.note('one more', NOW)
    t.equal(guessers.waitMs('first', NOW), 0)
  },
)
