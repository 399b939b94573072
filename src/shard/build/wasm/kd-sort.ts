/**
 * Puts recipients into kd order: of each range the middle one is in its place, with none on its left that
 * lies further along the axis, and none on its right that lies less far. The axes take turns, longitude
 * first. Ranges of `nodeSize` recipients and one, or fewer, are left as they are.
 *
 * A recipient is a record of 32 bytes: longitude and latitude as Int32, and what goes along. Records are
 * moved without branches, since a branch by their values would be mispredicted half of the time.
 *
 * Compiled by AssemblyScript. The records begin at RECORDS_AT; the bytes before that are for samples.
 *
 * @module
 */
import { RECORD_BYTES, RECORDS_AT } from '../kd-records'

const SAMPLES_AT: i32 = 0

export function kdSort(count: i32, nodeSize: i32): void {
  drawn = 0
  sortRange(RECORDS_AT, RECORDS_AT + (count - 1) * RECORD_BYTES, nodeSize * RECORD_BYTES, 0)
}

/** @param last  address of the last record, as in kdbush */
function sortRange(first: i32, last: i32, nodeBytes: i32, axis: i32): void {
  while (last > first && last - first > nodeBytes) {
    // In the index it is at half of the sum of the places of both, rounded down.
    const middle = RECORDS_AT + (((first + last - 2 * RECORDS_AT) / RECORD_BYTES) >> 1) * RECORD_BYTES
    select(first, last, middle, axis)
    axis ^= 4
    sortRange(first, middle - RECORD_BYTES, nodeBytes, axis)
    first = middle + RECORD_BYTES
  }
}

/** Moves records of [first, last] so that the one at `place` is the one that belongs there. */
function select(first: i32, last: i32, place: i32, axis: i32): void {
  while (first < last) {
    const pivotAt = choosePivot(first, last, place, axis)
    const pivot = load<i32>(pivotAt + axis)
    swap(pivotAt, last)
    const at = moveSmaller(first, last, pivot, axis)
    swap(at, last)
    if (place < at) {
      last = at - RECORD_BYTES
    } else if (place == at) {
      return
    } else {
      // If hardly any is smaller, many may be equal: they are dealt with at once.
      const isLopsided = (at - first) * 16 < last - first
      first = at + RECORD_BYTES
      if (isLopsided) {
        if (pivot == i32.MAX_VALUE) return
        first = moveSmaller(first, last + RECORD_BYTES, pivot + 1, axis)
        if (place < first) return
      }
    }
  }
}

/** Moves those of [first, end) that are less than the pivot to the front; returns where they end. */
function moveSmaller(first: i32, end: i32, pivot: i32, axis: i32): i32 {
  let smallerEnd = first
  for (let at = first; at < end; at += RECORD_BYTES) {
    const isSmaller = load<i32>(at + axis) < pivot
    swap(smallerEnd, at)
    smallerEnd += i32(isSmaller) * RECORD_BYTES
  }
  return smallerEnd
}

@inline
function swap(left: i32, right: i32): void {
  swapWords(left, right, 0)
  swapWords(left, right, 8)
  swapWords(left, right, 16)
  swapWords(left, right, 24)
}

@inline
function swapWords(left: i32, right: i32, offset: i32): void {
  const word = load<i64>(left + offset)
  store<i64>(left + offset, load<i64>(right + offset))
  store<i64>(right + offset, word)
}

const SAMPLE_COUNT_MAX: i32 = 256
const SAMPLE_SHARE: i32 = 32

/** A record near the place by its value, by a sample: one of each part of the range. */
function choosePivot(first: i32, last: i32, place: i32, axis: i32): i32 {
  const count = (last - first) / RECORD_BYTES + 1
  if (count < 3 * SAMPLE_SHARE) return first + (count >> 1) * RECORD_BYTES
  const sampleCount = min(SAMPLE_COUNT_MAX, count / SAMPLE_SHARE)
  const rank = <i32>((<i64>((place - first) / RECORD_BYTES) * sampleCount) / count)
  // Towards the middle, so that the place is likely on the side that is left with fewer.
  const slack = (sampleCount >> 5) + 1
  const wanted = rank < sampleCount >> 1 ? rank + slack : rank - slack
  const distance = count / sampleCount
  for (let sample = 0; sample < sampleCount; sample++) {
    const at = first + (sample * distance + draw(distance)) * RECORD_BYTES
    store<i64>(SAMPLES_AT + 8 * sample, sortable(load<i32>(at + axis), at))
  }
  return <i32>nthSample(sampleCount, max(0, min(sampleCount - 1, wanted)))
}

let drawn: u32 = 0

/** A number below `bound`, always the same ones for the same shard: no order of rows is a bad one. */
@inline
function draw(bound: i32): i32 {
  drawn = drawn * 1_664_525 + 1_013_904_223
  return <i32>((<u64>drawn * <u64>bound) >> 32)
}

/** The address of a record, behind its value. */
@inline
function sortable(value: i32, at: i32): i64 {
  return (<i64>value << 32) | <i64>at
}

@inline
function sampleAt(index: i32): i64 {
  return load<i64>(SAMPLES_AT + 8 * index)
}

/** Of so few, an ordinary quickselect. */
function nthSample(count: i32, rank: i32): i64 {
  let left = 0
  let right = count - 1
  while (left < right) {
    const pivot = sampleAt((left + right) >> 1)
    let low = left
    let high = right
    while (low <= high) {
      while (sampleAt(low) < pivot) low++
      while (sampleAt(high) > pivot) high--
      if (low > high) break
      const swapped = sampleAt(low)
      store<i64>(SAMPLES_AT + 8 * low++, sampleAt(high))
      store<i64>(SAMPLES_AT + 8 * high--, swapped)
    }
    if (rank <= high) right = high
    else if (rank >= low) left = low
    else break
  }
  return sampleAt(rank)
}
