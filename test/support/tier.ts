/**
 * The two tiers of tests. `npm test` runs the short one: what a change is likely to break, in two
 * minutes, with nothing installed. `npm run test:all` runs both.
 *
 * A test file belongs to the long tier when its name ends with `.long.test.ts`, and to the short
 * tier otherwise. A file of the short tier that asks `byTier` is run by both: with short loops by
 * `npm test`, with long ones by `npm run test:all`.
 *
 * @module
 */
export type Tier = 'short' | 'long'

/** The tier of a test file, in TypeScript or compiled. */
export function tierOf(path: string): Tier {
  return /\.long\.test\.[jt]s$/.test(path) ? 'long' : 'short'
}

/** Set by the test runner for what it runs. */
export const TIER_VARIABLE = 'HICKORY_TEST_TIER'

/** How much a test does, such as how many rounds: in `npm test`, and in `npm run test:all`. */
export function byTier<T>({ short, long }: { readonly short: T; readonly long: T }): T {
  return process.env[TIER_VARIABLE] === 'long' ? long : short
}
