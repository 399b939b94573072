/**
 * Quantities as people read them.
 *
 * @module
 */

/** Such as `12.3 MB`, in powers of 1000. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.95 && unit < BYTE_UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${BYTE_UNITS[unit]}`
}

/** Such as `3 h`; what lies in the future has the age 0. */
export function formatAge(ms: number): string {
  const [unit, unitMs] = AGE_UNITS.find(([, unitMs]) => ms >= 2 * unitMs) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / unitMs))} ${unit}`
}

/** Degrees of a coordinate in units of 1e-7 degree. */
export function formatDegrees(units: number): string {
  return (units / 1e7).toFixed(4)
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const
const AGE_UNITS: readonly [unit: string, ms: number][] = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
]
