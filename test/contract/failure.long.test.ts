/**
 * A thread of the service that fails ends the process for its supervisor, in order and with a log
 * line that says why.
 *
 * @module
 */
import t from 'tap'
import { Client, requestText } from '../http/wire.js'
import { serveAfter, temporaryDirectory } from '../support/service/hickory.js'

const fixture = new URL('./fixtures/fail-on-signal.js', import.meta.url).href

const cases: readonly [signal: NodeJS.Signals, what: string, message: string][] = [
  ['SIGUSR2', 'an exception in a front thread', 'a front thread failed'],
  ['SIGHUP', 'an exception in the main thread', 'the main thread failed'],
  ['SIGALRM', 'a rejection in the main thread', 'the main thread failed'],
]

for (const [signal, what, message] of cases) {
  t.test(`${what} is logged and ends the process with exit code 1`, async (t) => {
    const data = temporaryDirectory(t)
    const threads = ['--http-threads', '2', '--query-threads', '3']
    const options = ['--import', fixture]
    const service = await serveAfter(t, options, '--sample', '--data', data, ...threads)
    // One connection for each front thread, still open when one of them fails.
    const clients = [1, 2].map(() => new Client(Number(new URL(service.url).port)))
    for (const client of clients) {
      client.write(requestText('GET /livez'))
      t.equal((await client.answer()).status, 200)
    }
    const { code, stderr } = await service.stop(signal)
    t.equal(code, 1, stderr)
    const fatal = stderr.split('\n').filter((line) => line.includes('"level":60'))
    t.equal(fatal.length, 1, 'once')
    for (const line of fatal) {
      const { msg, fault, frames } = JSON.parse(line)
      t.equal(msg, message)
      t.equal(fault, 'SyntaxError')
      t.match(frames, /fail-on-signal/)
    }
    t.notMatch(stderr, '99912345678')
    t.notMatch(stderr, 'uv_loop_close')
    for (const client of clients) await client.untilClosed()
  })
}
