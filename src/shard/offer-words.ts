/**
 * Offers of the nearest as words of 32 bits, one list a shard, so that they travel as runs do: for each offer the
 * position that it is near to, the recipient, its rank, and the two halves of the distance in metres.
 *
 * @module
 */
import type { Offer } from './nearest.js'

/** @param shardCount  of the task; `at` of each offer is below it */
export function offerWords(shardCount: number, offers: readonly Offer[]): Uint32Array[] {
  const byShard = Array.from({ length: shardCount }, (): Offer[] => [])
  for (const offer of offers) byShard[offer.at].push(offer)
  return byShard.map((own) => {
    const words = new Uint32Array(WORD_COUNT * own.length)
    const view = new DataView(words.buffer)
    for (const [index, { near, recipient, rank, metres }] of own.entries()) {
      words.set([near, recipient, rank], WORD_COUNT * index)
      view.setFloat64(4 * (WORD_COUNT * index + 3), metres, true)
    }
    return words
  })
}

/** @param words  of each shard */
export function readOffers(words: readonly Uint32Array[]): Offer[] {
  return words.flatMap((own, at) => {
    const view = new DataView(own.buffer, own.byteOffset, own.byteLength)
    return Array.from({ length: own.length / WORD_COUNT }, (_, index) => {
      const [near, recipient, rank] = own.subarray(WORD_COUNT * index)
      const metres = view.getFloat64(4 * (WORD_COUNT * index + 3), true)
      return { near, at, recipient, rank, metres }
    })
  })
}

const WORD_COUNT = 5
