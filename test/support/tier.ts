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

/**
 * How much a test does, such as how many rounds: in `npm test`, and in `npm run test:all`; so many times more where
 * `HICKORY_TEST_TIMES` says so.
 */
export function byTier<T>({ short, long }: { readonly short: T; readonly long: T }): T {
  const much = process.env[TIER_VARIABLE] === 'long' ? long : short
  const times = Number(process.env.HICKORY_TEST_TIMES ?? 1)
  return typeof much === 'number' ? ((much * times) as T) : much
}
