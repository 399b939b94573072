/**
 * Clients that send a body as they read it, in chunks, are answered as those that send its length.
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

t.test('curl that sends chunks is answered', async (t) => {
  for (const input of [small, large]) {
    const [whole] = await curl(input, '--data-binary', '@-')
    t.match(whole, /"Count":[1-9]/)
    t.same(await curl(input, '-T', '-', '-X', 'POST'), [whole, '200'])
    // Without the question whether to go on, the body is on its way before there is an answer.
    t.same(await curl(input, '-T', '-', '-X', 'POST', '-H', 'Expect:'), [whole, '200'])
  }
})

t.test('fetch is answered with a stream as with its bytes', async (t) => {
  for (const input of [small, large]) {
    const streamed = await fetch(url, {
      method: 'POST',
      body: new Blob([input]).stream(),
      duplex: 'half',
    } as RequestInit)
    t.equal(streamed.status, 200)
    const whole = await fetch(url, { method: 'POST', body: new TextEncoder().encode(input) })
    t.equal(await streamed.text(), await whole.text())
  }
})
