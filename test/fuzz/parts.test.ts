/**
 * What the fuzzer relies on: plans that can be made and sent again, and a reader of answers.
 *
 * @module
 */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { AnswerReader } from '../support/service/answer-reader.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { judgeOutcome, judgePoked } from './judge.js'
import { compareKnown, knownRequests } from './known.js'
import { MARKER } from './mutate/odd-values.js'
import { type Plan, planOf } from './plan.js'
import { createLogWatch } from './process-watch.js'
import { readTranscript, writeTranscript } from './transcript.js'
import { publishWorld } from './world.js'

t.test('a seed and a number make the same request, and a transcript keeps it', async (t) => {
  const world = await publishWorld(temporaryDirectory(t))
  const seed = testSeed(t)
  for (let number = 0; number < 300; number++) {
    const plan = planOf(world, seed, number)
    const isSame = (other: Plan) =>
      writeTranscript('', other) === writeTranscript('', plan) && other.ending === plan.ending
    t.ok(isSame(planOf(world, seed, number)), `request ${number} again`)
    t.ok(isSame(readTranscript(writeTranscript('found', plan))), `request ${number} read back`)
  }
  t.throws(() => readTranscript('sned 00'))
  t.throws(() => readTranscript('then sleep'))
})

t.test('answers are read whatever the pieces they come in', async (t) => {
  const bytes = Buffer.from(
    'HTTP/1.1 100 Continue\r\n\r\n' +
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc' +
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nb\r\n, 0\r\n\r\n all\r\n0\r\n\r\n' +
      'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  )
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new AnswerReader()
    const read: string[] = []
    for (let at = 0; at < bytes.length; at += size) {
      let answer = reader.push(bytes.subarray(at, at + size))
      for (; answer !== undefined; answer = reader.push(Buffer.alloc(0))) {
        read.push(`${answer.status} ${answer.body}`)
      }
    }
    t.same(read, ['200 abc', '200 hello, 0\r\n\r\n all', '204 ', '404 '], `pieces of ${size}`)
  }
  for (const text of [
    'HTTP/1.1 2x0 OK\r\n\r\n',
    'x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n',
  ]) {
    t.throws(() => new AnswerReader().push(Buffer.from(text)), /none|no name|no length/)
  }
})

t.test('what must not come back is found', async (t) => {
  const head = (byteCount: number): Plan => {
    const bytes = Buffer.from(`${'a'.repeat(byteCount)}\r\n\r\n`)
    return { pieces: [{ bytes, pauseMs: 0 }], ending: 'answer', headersOnly: false }
  }
  const answered = (status: number, body: string, headers = {}) =>
    judgeOutcome(
      { kind: 'answered', answer: { status, headers, body: Buffer.from(body) } },
      head(10),
    )
  const json = { 'content-type': 'application/json; charset=utf-8' }
  t.equal(answered(200, MARKER), undefined)
  t.equal(answered(400, '{}', json), undefined)
  t.equal(answered(503, '', { 'retry-after': '1' }), undefined)
  t.match(answered(503, ''), /Retry-After/)
  t.match(answered(500, ''), /500/)
  t.match(answered(400, `not ${MARKER}`), /quotes/)
  t.match(answered(200, '{"a":', json), /not JSON/)
  t.match(judgeOutcome({ kind: 'closed' }, head(4_096)), /closed/)
  t.equal(judgeOutcome({ kind: 'closed' }, head(4_097)), undefined, '431, lost to a reset')
  t.match(judgeOutcome({ kind: 'late' }, head(5_000)), /in time/)
  t.match(judgePoked({ statuses: [200, 500], isOver: true }), /500/)
  t.match(judgePoked({ statuses: [], isOver: false }), /closed in time/)
  t.equal(judgePoked({ statuses: [400, 503, 505], isOver: true }), undefined)
})

t.test('a log of errors, or of anybody, is found once', async (t) => {
  const written = { stderr: '' }
  const faults = createLogWatch(() => written)
  const log = (line: string) => {
    written.stderr += line
    return faults()
  }
  t.same(log('{"level":30,"time":"2026-01-01T00:00:00.123Z","msg":"ready"}\n'), [])
  t.same(log('{"level":50,"msg":"bad"}'), [], 'not a whole line yet')
  t.same(log('\n'), ['logged: {"level":50,"msg":"bad"}'])
  t.same(log(`{"level":30,"msg":"${MARKER}"}\n`), ['the log holds a number'])
  t.same(log('{"level":30,"msg":"at 12.3456789"}\n'), ['the log holds a position'])
  t.same(log('Segmentation fault\n'), ['the log holds a line that is not JSON'])
  t.same(faults(), [])
})

t.test('a known request tells a wrong answer', async (t) => {
  const known = knownRequests(await publishWorld(temporaryDirectory(t)))
  const [{ expected }] = known
  const records = expected.map(({ id, phones }) => ({
    SourceId: id,
    Count: phones.length,
    Recipients: phones.map((phone) => ({ Number: phone })),
  }))
  const compare = () => compareKnown(known[0], JSON.stringify({ SourceRecords: records }))
  t.equal(compare(), undefined)
  const full = records.findIndex(({ Count }) => Count > 0)
  records[full].Recipients[0] = { Number: '+9990' }
  t.match(compare(), /others are listed/)
  records[full].Count--
  t.match(compare(), /counted/)
  for (const { expected } of known) {
    t.ok(
      expected.some(({ phones }) => phones.length > 1),
      'there is somebody to be found',
    )
  }
})
