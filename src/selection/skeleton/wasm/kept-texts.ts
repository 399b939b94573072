/**
 * Texts of earlier bodies, to tell one that was there before.
 *
 * @module
 */
import {
  KEPT_TEXT_BYTES,
  KEPT_TEXT_BYTES_MAX,
  KEPT_TEXT_COUNT,
  KEPT_TEXTS,
  TEXT,
} from '../layout'
import { entry } from './address'

/**
 * Compares the text that is left of this body with the one at its place.
 *
 * @returns the place, if the text there is the same; otherwise, once it has been put there, the place
 *   less `KEPT_TEXT_COUNT`; or `KEPT_TEXT_COUNT` for a text that is too long
 */
export function place(textBytes: i32): i32 {
  if (textBytes > KEPT_TEXT_BYTES_MAX) return KEPT_TEXT_COUNT
  const end = entry(TEXT, textBytes, 1)
  v128.store(end, i64x2.splat(0))
  let hash: u64 = textBytes
  for (let at: usize = TEXT; at < end; at += 8) {
    hash = (hash ^ load<u64>(at)) * 0x9e3779b97f4a7c15
    hash ^= hash >> 29
  }
  const slot = <i32>((hash >> 40) % KEPT_TEXT_COUNT)
  const lengthAt = entry(KEPT_TEXT_BYTES, slot, 4)
  const kept = entry(KEPT_TEXTS, slot, KEPT_TEXT_BYTES_MAX)
  if (load<i32>(lengthAt) == textBytes && isSame(kept, end)) return slot
  store<i32>(lengthAt, textBytes)
  let to = kept
  for (let at: usize = TEXT; at < end; at += 16, to += 16) v128.store(to, v128.load(at))
  return slot - KEPT_TEXT_COUNT
}

function isSame(kept: usize, end: usize): bool {
  let other = kept
  for (let at: usize = TEXT; at < end; at += 16, other += 16) {
    if (v128.any_true(v128.xor(v128.load(at), v128.load(other)))) return false
  }
  return true
}
