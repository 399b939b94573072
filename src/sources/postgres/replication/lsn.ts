/**
 * Places in the log of a PostgreSQL server (LSN), as numbers of 64 bits.
 *
 * @module
 */

/** @param text  such as `16/B374D848` */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? []
  if (high === undefined || low === undefined)
    throw new Error('the server gave no place of its log')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export function formatLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase()
}
