/**
 * The three tiers of tests, by what they are for.
 *
 * - `npm test`, the short one: every change, in two minutes, with nothing installed beyond `npm ci`.
 * - `npm run test:all` adds the long one: real servers, kills, full disks, packages. A test file is of it when its name
 *   ends with `.long.test.ts`.
 * - `npm run test:soak` runs generators, models and fuzzers for as long as it is given.
 *
 * A property has the number of runs that finds the planted faults of test/mutants in the first two, and many more in the
 * soak.
 *
 * @module
 */
export type Tier = 'short' | 'long'

/** The tier of a test file, in TypeScript or compiled. */
export function tierOf(path: string): Tier {
  return /\.long\.test\.[jt]s$/.test(path) ? 'long' : 'short'
}

/** Set by the test runner for what it runs: `soak`, or anything else for CI. */
export const TIER_VARIABLE = 'HICKORY_TEST_TIER'

/** How much a test does, such as how many rounds: where CI runs it, and in the soak. */
export function byTier<T>({ ci, soak }: { readonly ci: T; readonly soak: T }): T {
  return process.env[TIER_VARIABLE] === 'soak' ? soak : ci
}
