/**
 * Seeded property tests: the seed is printed, and HICKORY_TEST_SEED repeats a run.
 *
 * @module
 */
import type { Test } from 'tap'

/** The seed of this run: HICKORY_TEST_SEED, or a new one; printed either way. */
export function testSeed(t: Test): number {
  const given = process.env.HICKORY_TEST_SEED
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given)
  t.comment(`seed ${seed} (repeat with HICKORY_TEST_SEED=${seed})`)
  return seed
}
