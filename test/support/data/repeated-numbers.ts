/**
 * Recipients that share numbers.
 *
 * @module
 */
import type { RecipientColumns } from '../../../src/shard/columns.js'
import type { Random } from '../random/world.js'

/**
 * The same recipients, of whom a share has the number of another one before it; but no two with the
 * same number are at the same place, since nobody could tell them apart.
 */
export function withRepeatedNumbers(
  columns: RecipientColumns,
  share: number,
  random: Random,
): RecipientColumns {
  const { recipientCount, lngs, lats } = columns
  const numbers = numbersIn(columns)
  const taken = new Set<string>()
  const keyOf = (row: number) => `${numbers[row]} ${lngs[row]} ${lats[row]}`
  for (let row = 0; row < recipientCount; row++) {
    const own = numbers[row]
    if (row > 0 && random.unit() < share) numbers[row] = numbers[random.between(0, row - 1)]
    if (taken.has(keyOf(row))) numbers[row] = own
    taken.add(keyOf(row))
  }
  const numberOffsets = new Uint32Array(recipientCount + 1)
  for (const [row, number] of numbers.entries()) {
    numberOffsets[row + 1] = numberOffsets[row] + number.length
  }
  return { ...columns, numberOffsets, numbers: new TextEncoder().encode(numbers.join('')) }
}

function numbersIn({ recipientCount, numbers, numberOffsets }: RecipientColumns): string[] {
  return Array.from({ length: recipientCount }, (_, row) =>
    Buffer.from(numbers.subarray(numberOffsets[row], numberOffsets[row + 1])).toString(),
  )
}
