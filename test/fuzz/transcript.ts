/**
 * A plan as text, so that a request that found something can be kept and sent again:
 *
 *   send 504f5354…
 *   pause 20
 *   send …
 *   then answer
 *
 * @module
 */
import type { Ending, Piece, Plan } from './plan.js'

/** @param title  goes on a line of its own, which is not read back */
export function writeTranscript(title: string, { pieces, ending, headersOnly }: Plan): string {
  const lines = pieces.flatMap(({ bytes, pauseMs }) => [
    `send ${bytes.toString('hex')}`,
    ...(pauseMs > 0 ? [`pause ${pauseMs}`] : []),
  ])
  return [`# ${title}`, ...lines, `then ${headersOnly ? HEAD_ANSWER : ending}`, ''].join('\n')
}

/** @throws Error  when a line is none of a transcript */
export function readTranscript(text: string): Plan {
  const pieces: Piece[] = []
  let ending: Ending = 'wait'
  let headersOnly = false
  for (const line of text.split('\n')) {
    const [, verb, value = ''] = /^(#|send|pause|then|$) ?(.*)$/.exec(line) ?? []
    if (verb === undefined) throw new Error('a line of the transcript is not understood')
    if (verb === 'send') pieces.push({ bytes: Buffer.from(value, 'hex'), pauseMs: 0 })
    if (verb === 'pause') {
      const piece = pieces.pop() ?? { bytes: Buffer.alloc(0), pauseMs: 0 }
      pieces.push({ ...piece, pauseMs: Number(value) })
    }
    if (verb === 'then') {
      headersOnly = value === HEAD_ANSWER
      ending = endingOf(headersOnly ? 'answer' : value)
    }
  }
  return { pieces, ending, headersOnly }
}

const HEAD_ANSWER = 'answer without a body'
const endings: readonly Ending[] = ['answer', 'reset', 'halfClose', 'wait']

function endingOf(text: string): Ending {
  const ending = endings.find((known) => known === text)
  if (ending === undefined) throw new Error('a transcript ends in a way that is not known')
  return ending
}
