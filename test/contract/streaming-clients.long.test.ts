/**
 * Clients that send a body as they read it: they are told what to do instead, and that works.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
const url = `${service.url}/api/recipients`

const geoJSON = { xmin: -95.46, ymin: 29.69, xmax: -95.27, ymax: 29.81 }
const small = JSON.stringify({ countsOnly: true, geoJSON })
/** More than curl sends before it is told to go on, and more than a socket takes at once. */
const large = small.padEnd(3 * 2 ** 20)

/** What curl prints, with the status on a line of its own. */
async function curl(input: string, ...args: string[]): Promise<[body: string, status: string]> {
  const child = spawn('curl', ['-s', '-w', '\n%{http_code}', ...args, url])
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const lines = (await text(child.stdout)).split('\n')
  return [lines.slice(0, -1).join('\n'), lines.at(-1) ?? '']
}

t.test('curl that sends chunks is told how to send a length, and then is answered', async (t) => {
  for (const input of [small, large]) {
    const [refusal, status] = await curl(input, '-T', '-', '-X', 'POST')
    t.equal(status, '411')
    const { ErrorCode, Message } = JSON.parse(refusal).ResponseStatus
    t.equal(ErrorCode, 'LengthRequired')
    const [, advice] = / curl does with (--data-binary @-) instead of -T -/.exec(Message) ?? []
    t.ok(advice, Message)
    const [answer, ok] = await curl(input, ...advice.split(' '))
    t.equal(ok, '200')
    t.match(answer, /"Count":[1-9]/)
  }
})

t.test('fetch is refused with a stream, and answered with its bytes', async (t) => {
  const streamed = await fetch(url, {
    method: 'POST',
    body: new Blob([small]).stream(),
    duplex: 'half',
  } as RequestInit)
  t.equal(streamed.status, 411)
  t.match(await streamed.text(), 'LengthRequired')
  const whole = await fetch(url, { method: 'POST', body: new TextEncoder().encode(small) })
  t.equal(whole.status, 200)
  t.match(await whole.text(), /"Count":[1-9]/)
})
