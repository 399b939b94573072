/**
 * Four coordinates as decimal text: those of two recipients, longitude and latitude of each.
 *
 * Nothing here depends on a branch, since nobody can predict how many digits a coordinate has.
 *
 * @module
 */

/** The coordinates, less their sign, divided by 10,000: by a product of 64 bits, exact below 2^31. */
@inline
export function tenThousandsOf(units: v128): v128 {
  const reciprocal = i32x4.splat(<i32>3_518_437_209)
  const low = i64x2.shr_u(i64x2.extmul_low_i32x4_u(units, reciprocal), 45)
  const high = i64x2.shr_u(i64x2.extmul_high_i32x4_u(units, reciprocal), 45)
  return v128.shuffle<i32>(low, high, 0, 2, 4, 6)
}

/** Whole degrees: a thousandth of the ten thousands, exact below 262,144. */
@inline
export function wholesOf(tenThousands: v128): v128 {
  const eighths = i32x4.shr_u(tenThousands, 3)
  return i32x4.shr_u(i32x4.mul(eighths, i32x4.splat(134_218)), 24)
}

/** The first three decimals, as a number. */
@inline
export function headsOf(tenThousands: v128, wholes: v128): v128 {
  return i32x4.sub(tenThousands, i32x4.dot_i16x8_s(wholes, i32x4.splat(1_000)))
}

/** The last four decimals, as a number. */
@inline
export function tailsOf(units: v128, tenThousands: v128): v128 {
  return i32x4.sub(units, i32x4.mul(tenThousands, i32x4.splat(10_000)))
}

/** The hundreds of numbers below 10,000. */
@inline
export function hundredsOf(numbers: v128): v128 {
  return i32x4.shr_u(i32x4.dot_i16x8_s(numbers, i32x4.splat(10_486)), 20)
}

/** Numbers below 65,536 side by side: those of `low` in the lower half of each lane. */
@inline
export function paired(low: v128, high: v128): v128 {
  return v128.or(low, i32x4.shl(high, 16))
}

/** What is left of eight numbers without their hundreds. */
@inline
export function belowHundred(numbers: v128, hundreds: v128): v128 {
  return i16x8.sub(numbers, i16x8.mul(hundreds, i16x8.splat(100)))
}

/** The two digits of eight numbers below 100, tens first, one a byte. */
@inline
export function digitsOf(numbers: v128): v128 {
  const tens = i16x8.shr_u(i16x8.mul(numbers, i16x8.splat(103)), 10)
  return i16x8.sub(i16x8.shl(numbers, 8), i16x8.mul(tens, i16x8.splat(2_559)))
}
