import t from 'tap'
import { createAnswerReader } from '../../loadtest/lists/answer-reader.js'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n'
const answers = {
  chunked: `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nab\ncd\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n`,
  whole: `${HEAD}Content-Length: 21\r\n\r\nab\ncd0123456789abcdef`,
}

function readInPieces(answer: string, pieceBytes: number) {
  let body = ''
  const reader = createAnswerReader((bytes) => {
    body += Buffer.from(bytes).toString('latin1')
  })
  const bytes = Buffer.from(answer, 'latin1')
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    t.equal(reader.isOver, false, 'it is not over before its end')
    reader.read(bytes.subarray(at, at + pieceBytes))
  }
  return { body, status: reader.status, isOver: reader.isOver }
}

t.test('an answer is read to its end, however its bytes arrive', async (t) => {
  for (const [name, answer] of Object.entries(answers)) {
    for (const pieceBytes of [1, 2, 3, 7, 50, 1_000]) {
      t.same(
        readInPieces(answer, pieceBytes),
        { body: 'ab\ncd0123456789abcdef', status: 200, isOver: true },
        `${name}, ${pieceBytes} bytes at a time`,
      )
    }
  }
})

t.test('an answer that breaks off is not over', async (t) => {
  for (const [name, answer] of Object.entries(answers)) {
    t.equal(readInPieces(answer.slice(0, -1), 1_000).isOver, false, name)
  }
})

t.test('errors and answers without a body are answers, too', async (t) => {
  const empty = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n'
  t.same(readInPieces(empty, 9), { body: '', status: 503, isOver: true })
})

t.test('what is no answer is refused', async (t) => {
  const reader = createAnswerReader(() => {})
  t.throws(() => reader.read(Buffer.from('SSH-2.0-x\r\n')), /does not begin like one/)
  const lost = createAnswerReader(() => {})
  const broken = answers.chunked.replace('10\r\n', 'xyz\r\n')
  t.throws(() => lost.read(Buffer.from(broken)), /a chunk has no size/)
})
