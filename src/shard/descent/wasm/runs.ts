/**
 * Runs as their bounds, one after the other: start, end, start, end, …
 *
 * They are of recipients, or of the ranks of those recipients that are in a set (../../ties/ranked-set.ts).
 *
 * @module
 */

let boundsAt: usize = 0
/** Address behind the last bound. */
let endAt: usize = 0
/** Address of the set; 0 where there is none. */
let setAt: usize = 0

export function openRuns(at: usize, ofSetAt: usize): void {
  boundsAt = at
  endAt = at
  setAt = ofSetAt
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

/** Adds the recipients [start, end). */
export function append(start: i32, end: i32): void {
  if (setAt == 0) {
    join(start, end)
    return
  }
  const first = rankOf(start)
  const last = rankOf(end)
  if (first < last) join(first, last)
}

/** Adds [start, end), joined to the last run when it begins where that one ends. */
@inline
function join(start: i32, end: i32): void {
  if (lastIs(start)) endAt -= 4
  else push(start)
  push(end)
}

/** Adds the recipients `base + i` of each bit i in `mask`. */
export function appendMask(mask: u64, base: i32): void {
  if (setAt != 0) {
    appendRanks(mask, base)
    return
  }
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

/** Adds the ranks of those recipients `base + i` of each bit i in `mask` that are in the set. */
function appendRanks(mask: u64, base: i32): void {
  const at = groupAt(base)
  const shift = base & 31
  let members = (<u64>load<u32>(at, 4)) | ((<u64>load<u32>(at, 12)) << 32)
  if (shift != 0) members = (members >>> shift) | ((<u64>load<u32>(at, 20)) << (64 - shift))
  const rank = rankOf(base)
  for (let wanted = mask & members; wanted != 0; wanted &= wanted - 1) {
    const before = (wanted & (0 - wanted)) - 1
    const own = rank + <i32>popcnt(members & before)
    join(own, own + 1)
  }
}

@inline
function rankOf(recipient: i32): i32 {
  const at = groupAt(recipient)
  return load<i32>(at) + popcnt(load<i32>(at, 4) & ~(-1 << (recipient & 31)))
}

@inline
function groupAt(recipient: i32): usize {
  return setAt + ((<usize>(recipient >>> 5)) << 3)
}
