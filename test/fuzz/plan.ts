/**
 * What is sent as one numbered request of a run: which bytes, in which pieces, and how it ends.
 *
 * @module
 */
import { type Random, seededRandom } from '../support/random/world.js'
import { randomBytes } from './mutate/bytes.js'
import { randomHttpText } from './requests/http-text.js'
import type { FuzzWorld } from './world.js'

export interface Piece {
  readonly bytes: Buffer
  /** To wait before the next piece. */
  readonly pauseMs: number
}

/**
 * - `answer`: one valid HTTP request, that must be answered, on a connection that is kept
 * - `reset`: any bytes; the client breaks off after a moment, with or without an answer
 * - `halfClose`: any bytes; the client says that it sends no more, and waits to be closed
 * - `wait`: any bytes; the client waits to be closed
 */
export type Ending = 'answer' | 'reset' | 'halfClose' | 'wait'

export interface Plan {
  readonly pieces: readonly Piece[]
  readonly ending: Ending
  /** Whether the answer has no body, whatever its headers say. */
  readonly headersOnly: boolean
}

/** The same for the same world, seed and number. */
export function planOf(world: FuzzWorld, seed: number, number: number): Plan {
  const random = seededRandom((seed * 1_000_003 + number) | 0)
  if (random.unit() < RAW_SHARE) {
    const bytes = randomBytes(world, random)
    const ending = random.unit() < 0.96 ? 'reset' : random.pick(['halfClose', 'wait'] as const)
    return { pieces: piecesOf(bytes, random), ending, headersOnly: false }
  }
  const { method, head, body } = randomHttpText(world, random)
  // The HTTP library answers 505 where a request line is cut after one of its blanks.
  const pieces = piecesOf(Buffer.concat([head, body]), random, head.indexOf('\n') + 1)
  return { pieces, ending: 'answer', headersOnly: method === 'HEAD' }
}

const RAW_SHARE = 0.12

/** Mostly whole; otherwise cut at random places, some pieces after a pause. */
function piecesOf(bytes: Buffer, random: Random, firstCut = 1): Piece[] {
  if (random.unit() < 0.95 || bytes.length < 2) return [{ bytes, pauseMs: 0 }]
  const cutCount = random.pick([1, 1, 2, 8])
  const cuts = Array.from({ length: cutCount }, () => random.between(firstCut, bytes.length - 1))
  const ends = [...cuts.sort((a, b) => a - b), bytes.length]
  return ends.map((end, at) => ({
    bytes: bytes.subarray(at === 0 ? 0 : ends[at - 1], end),
    pauseMs: random.pick([0, 0, 0, 1, 1, 10, 50]),
  }))
}
