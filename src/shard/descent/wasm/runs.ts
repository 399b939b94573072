/**
 * Runs as their bounds, one after the other: start, end, start, end, …
 *
 * @module
 */

let boundsAt: usize = 0
/** Address behind the last bound. */
let endAt: usize = 0

export function openRuns(at: usize): void {
  boundsAt = at
  endAt = at
}

@inline
export function boundCount(): i32 {
  return <i32>((endAt - boundsAt) >> 2)
}

@inline
function lastIs(bound: i32): bool {
  return endAt > boundsAt && load<i32>(endAt - 4) == bound
}

@inline
function push(bound: i32): void {
  store<i32>(endAt, bound)
  endAt += 4
}

/** Adds [start, end), joined to the last run when it begins where that one ends. */
export function append(start: i32, end: i32): void {
  if (lastIs(start)) endAt -= 4
  else push(start)
  push(end)
}

/** Adds the points `base + i` of each bit i in `mask`. */
export function appendMask(mask: u64, base: i32): void {
  // A run starts or ends wherever a bit differs from the one before it.
  let changes = mask ^ (mask << 1)
  if (changes == 0) return
  if (lastIs(base + <i32>ctz(changes))) {
    endAt -= 4
    changes &= changes - 1
  }
  while (changes != 0) {
    push(base + <i32>ctz(changes))
    changes &= changes - 1
  }
  if (mask >> 63 != 0) push(base + 64)
}
