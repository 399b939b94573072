/**
 * Makes a request that shows a fault as small as it gets.
 *
 * @module
 */
import type { JsonObject } from './requests.js'

/** Leaves out whatever can be left out while the request still shows what it is to show. */
export async function smallest(
  request: JsonObject,
  shows: (request: JsonObject) => Promise<boolean>,
): Promise<JsonObject> {
  let least = request
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of smaller(least)) {
      if (!(await shows(candidate as JsonObject))) continue
      least = candidate as JsonObject
      isSmaller = true
      break
    }
  }
  return least
}

/** The value with one element or member less, the largest first; positions stay whole. */
function* smaller(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return
    for (let at = 0; at < value.length && value.length > 1; at++) yield value.toSpliced(at, 1)
    for (const [at, item] of value.entries()) {
      for (const less of smaller(item)) yield value.with(at, less)
    }
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
    for (const [name] of members) {
      if (
        /^(radius|buffer|nearest|exclude|sources|contactCountMode|distinct|clipToBoundary)$/i.test(
          name,
        )
      ) {
        yield Object.fromEntries(members.filter(([other]) => other !== name))
      }
    }
    for (const [name, item] of members) {
      for (const less of smaller(item)) yield { ...value, [name]: less }
    }
  }
}
