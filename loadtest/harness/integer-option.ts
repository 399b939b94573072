/**
 * Whole numbers of a command line.
 *
 * @module
 */

/** @throws Error  that names the option, its range and what was found, with the usage below */
export function integerOption(
  name: string,
  text: string,
  min: number,
  max: number,
  usage: string,
): number {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new Error(`--${name} is an integer from ${min} to ${max}, not "${text}"\n${usage}`)
}
