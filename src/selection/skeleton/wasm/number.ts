/**
 * Numbers of JSON, as the double that their digits are read as or as units of 1e-7 degree.
 *
 * What the digits decide is computed here: a whole number of units, or one division of numbers that
 * are doubles exactly, which is rounded once. Everything else is asked of JavaScript.
 *
 * @module
 */

/** `Number` of the text [start, end). */
@external('skeleton', 'numberAt')
declare function numberAt(start: usize, end: usize): f64

/** Where the number ends that was read last; 0 where there was none. */
export let numberEnd: usize = 0

const ZEROS: u64 = 0x3030303030303030
const POWERS = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18,
])
const WHOLE_POWERS = memory.data<u64>([1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000])
const UNITS_PER_DEGREE: f64 = 1e7
/** Up to here all whole numbers are doubles. */
const EXACT: u64 = 9007199254740992
/** So many digits fit into 64 bits. */
const DIGIT_COUNT_MAX: i32 = 19
/** More whole digits would be beyond any coordinate in degrees. */
const WHOLE_DIGIT_COUNT_MAX: i32 = 9
const DECIMALS_OF_UNITS: i32 = 7

/**
 * The number at an address.
 *
 * @param inUnits  whether it is in degrees and wanted in units; NaN beyond what may be a longitude
 */
@inline
export function readNumber(start: usize, inUnits: bool): f64 {
  let at = start
  const isNegative = load<u8>(at) == 0x2d
  at += <usize>isNegative
  let chunk = load<u64>(at) ^ ZEROS
  let count = digitCount(chunk)
  if (count == 0) {
    numberEnd = 0
    return NaN
  }
  if (count > 1 && (chunk & 0xff) == 0) {
    numberEnd = 0
    return NaN
  }
  let digits = digitsOf(chunk, count)
  at += count
  let wholeCount = <i32>count
  if (count == 8) {
    while (true) {
      const digit = <u64>load<u8>(at) - 0x30
      if (digit > 9) break
      if (++wholeCount > DIGIT_COUNT_MAX) return readHard(start, inUnits)
      digits = digits * 10 + digit
      at++
    }
  }
  let decimals: i32 = 0
  if (load<u8>(at) == 0x2e) {
    at++
    chunk = load<u64>(at) ^ ZEROS
    count = digitCount(chunk)
    if (count == 0) {
      numberEnd = 0
      return NaN
    }
    do {
      decimals += <i32>count
      if (wholeCount + decimals > DIGIT_COUNT_MAX) return readHard(start, inUnits)
      digits = digits * load<u64>(WHOLE_POWERS + (count << 3)) + digitsOf(chunk, count)
      at += count
      if (count < 8) break
      chunk = load<u64>(at) ^ ZEROS
      count = digitCount(chunk)
    } while (count > 0)
  }
  if ((load<u8>(at) | 0x20) == 0x65) return readHard(start, inUnits)
  numberEnd = at
  let value: f64
  if (inUnits && decimals <= DECIMALS_OF_UNITS) {
    if (wholeCount > WHOLE_DIGIT_COUNT_MAX) return NaN
    value = <f64>(<i64>(digits * load<u64>(WHOLE_POWERS + (<usize>(DECIMALS_OF_UNITS - decimals) << 3))))
  } else {
    value = quotient(digits, decimals)
    if (isNaN(value)) return readHard(start, inUnits)
    if (inUnits) value = unitsOf(value)
  }
  return isNegative ? -value : value
}

/** As `toUnits` of geometry/units.ts, which says why. Halves are rounded in another way, but to no unit. */
@inline
export function unitsOf(degrees: f64): f64 {
  const product = degrees * UNITS_PER_DEGREE
  const whole = nearest(product)
  return whole / UNITS_PER_DEGREE == degrees ? whole : product
}

/** How many of the eight characters are digits, up to the first that is none. */
@inline
function digitCount(chunk: u64): usize {
  // A carry out of a byte that is no digit reaches only those behind it.
  const others = ((chunk + 0x7676767676767676) | chunk) & 0x8080808080808080
  return <usize>(ctz(others) >> 3)
}

/** The number that the first digits make up, one at least. */
@inline
function digitsOf(chunk: u64, count: usize): u64 {
  let pairs = chunk << ((8 - <u64>count) << 3)
  pairs = pairs * 10 + (pairs >> 8)
  return (
    ((pairs & 0x000000ff000000ff) * 0x000f424000000064 +
      ((pairs >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
    32
  )
}

/** The double nearest to digits / 10 ** decimals; NaN where it is too near to the middle of two. */
function quotient(digits: u64, decimals: i32): f64 {
  const power = load<f64>(POWERS + (<usize>decimals << 3))
  if (digits <= EXACT) return <f64>digits / power
  // The rest of a division, exactly, tells how far its quotient is off.
  const high = <f64>digits
  const low = <f64>(<i64>(digits - <u64>high))
  const first = high / power
  const product = first * power
  const rest = high - product - productError(first, power, product) + low
  const more = rest / power
  const sum = first + more
  const off = abs(more - (sum - first))
  const bits = reinterpret<u64>(sum)
  // Below a power of two doubles lie closer.
  if ((bits & 0x000fffffffffffff) == 0) return NaN
  const half = reinterpret<f64>((bits & 0x7ff0000000000000) - (<u64>53 << 52))
  return off < half * 0.999999 ? sum : NaN
}

/** What a product is too small by, exactly (Dekker). */
@inline
function productError(a: f64, b: f64, product: f64): f64 {
  const aWide = a * 134217729
  const aHigh = aWide - (aWide - a)
  const aLow = a - aHigh
  const bWide = b * 134217729
  const bHigh = bWide - (bWide - b)
  const bLow = b - bHigh
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

/** A number with an exponent, with many digits, or near to the middle of two doubles. */
function readHard(start: usize, inUnits: bool): f64 {
  let at = start
  if (load<u8>(at) == 0x2d) at++
  const first = at
  at = skipDigits(at)
  let isNumber = at > first && (at == first + 1 || load<u8>(first) != 0x30)
  if (load<u8>(at) == 0x2e) {
    const from = ++at
    at = skipDigits(at)
    isNumber = isNumber && at > from
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    at++
    if (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d) at++
    const from = at
    at = skipDigits(at)
    isNumber = isNumber && at > from
  }
  if (!isNumber) {
    numberEnd = 0
    return NaN
  }
  numberEnd = at
  const value = numberAt(start, at)
  return inUnits ? unitsOf(value) : value
}

function skipDigits(from: usize): usize {
  let at = from
  while (<u32>load<u8>(at) - 0x30 <= 9) at++
  return at
}
