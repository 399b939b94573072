/**
 * Seeded property tests: the seed is printed, and HICKORY_TEST_SEED repeats a run. HICKORY_TEST_WORLD repeats one world
 * of it, where a failure names a world.
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

/** The numbers of the worlds of this run: as many as are asked for from 0 on, or HICKORY_TEST_WORLD alone. */
export function testWorlds(count: number): readonly number[] {
  const given = process.env.HICKORY_TEST_WORLD
  return given === undefined ? Array.from({ length: count }, (_, world) => world) : [Number(given)]
}
