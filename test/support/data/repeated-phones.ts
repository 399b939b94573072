/**
 * Recipients that share phones.
 *
 * @module
 */
import type { RecipientColumns } from '../../../src/shard/columns.js'
import type { Random } from '../random/world.js'

/**
 * The same recipients, of whom a share has the phone of another one before it; but no two with the
 * same phone are at the same place, since nobody could tell them apart.
 */
export function withRepeatedPhones(
  columns: RecipientColumns,
  share: number,
  random: Random,
): RecipientColumns {
  const { recipientCount, lngs, lats } = columns
  const phones = phonesIn(columns)
  const taken = new Set<string>()
  const keyOf = (row: number) => `${phones[row]} ${lngs[row]} ${lats[row]}`
  for (let row = 0; row < recipientCount; row++) {
    const own = phones[row]
    if (row > 0 && random.unit() < share) phones[row] = phones[random.between(0, row - 1)]
    if (taken.has(keyOf(row))) phones[row] = own
    taken.add(keyOf(row))
  }
  const phoneOffsets = new Uint32Array(recipientCount + 1)
  for (const [row, phone] of phones.entries()) {
    phoneOffsets[row + 1] = phoneOffsets[row] + phone.length
  }
  return { ...columns, phoneOffsets, phones: new TextEncoder().encode(phones.join('')) }
}

function phonesIn({ recipientCount, phones, phoneOffsets }: RecipientColumns): string[] {
  return Array.from({ length: recipientCount }, (_, row) =>
    Buffer.from(phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])).toString(),
  )
}
