/**
 * Damaged drawings of each notation, sent to a service: each is answered or refused, and where only the order of
 * what was written is another one, nobody is selected beyond what the original reaches. Then what is made to harm.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { zipOf } from '../support/data/zip.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'
import { type Original, originalsOf } from './drawn-originals.js'
import { ANSWER_MS } from './lane.js'
import { mutatedText } from './mutate/text.js'
import { createLogWatch } from './process-watch.js'

/** Of each kind. */
const ROUND_COUNT = byTier({ ci: 600, soak: 10_000 })
const LANE_COUNT = 8
const AREA = 'counties:48201'

interface Sent {
  readonly path: string
  readonly contentType: string
  readonly body: string | Buffer
}

t.test('damaged drawings are refused, or select nobody beyond', async (t) => {
  const seed = testSeed(t)
  const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
  const ask = ({ path, contentType, body }: Sent) => answerOf(service.url + path, contentType, body)
  const logged = createLogWatch(() => service.output())
  const area = (await (await fetch(`${service.url}/api/areas/${AREA}`)).json()) as {
    geometry: { coordinates: [number, number][][][] }
  }
  const [[ring]] = area.geometry.coordinates
  for (const [at, original] of originalsOf(ring, AREA).entries()) {
    const { name, superset } = original
    const most = await ask(jsonOf({ ...superset, countsOnly: true }))
    t.ok(most.count > 0, `${name}: somebody is there`)
    const whole = await ask(sentOf(original, original.tokens.join('')))
    t.equal(whole.status, 200, `${name}: the original is taken`)
    t.ok(whole.count <= most.count)
    const random = seededRandom(seed + at)
    const statuses = new Map<string, number>()
    const faults: string[] = []
    let left = ROUND_COUNT
    const lane = async () => {
      while (left-- > 0 && faults.length < 5) {
        const isReordered = random.unit() < 0.6
        const body = isReordered ? reordered(original, random) : damaged(original, random)
        const { status, count } = await ask(body)
        const key = `${status}${isReordered ? ' reordered' : ''}`
        statuses.set(key, (statuses.get(key) ?? 0) + 1)
        const isWider = isReordered && count > most.count
        if (status === 0 || status >= 500 || isWider) {
          faults.push(`${status}, ${count} of ${most.count}: ${body.body.toString('latin1')}`)
        }
      }
    }
    await Promise.all(Array.from({ length: LANE_COUNT }, lane))
    t.same(faults, [], name)
    t.comment(`${name}: ${[...statuses].sort().map(String).join('; ')}`)
    t.ok((statuses.get('200 reordered') ?? 0) > ROUND_COUNT / 100, `${name}: some are taken`)
    const after = await ask(sentOf(original, original.tokens.join('')))
    t.equal(after.count, whole.count, `${name}: the original selects whom it selected`)
  }
  t.same(logged(), [])
})

t.test('what is made to harm is refused, and others are answered', async (t) => {
  // While a client packs a bomb for more than ten seconds, the service ends the connection that it sends the bomb by.
  const requests = [...hostile()]
  const service = await serve(t, '--sample', '--data', temporaryDirectory(t), '--http-threads', '1')
  const small = jsonOf({ countsOnly: true, bbox: [-95.4, 29.7, -95.3, 29.8] })
  for (const [what, path, contentType, body] of requests) {
    const { status } = await answerOf(service.url + path, contentType, body)
    t.ok(status >= 400 && status < 500, `${what}: ${status}`)
    const other = await answerOf(service.url + small.path, small.contentType, small.body)
    t.equal(other.status, 200)
  }
  t.equal((await service.stop()).code, 0)
})

/** The status is 0 where no answer came. What a busy machine refuses is asked again, as clients are told to do. */
async function answerOf(
  url: string,
  contentType: string,
  body: string | Buffer,
  tries = 10,
): Promise<{ readonly status: number; readonly count: number }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const answer = (await response.json()) as Answered
    const retryAfter = response.headers.get('retry-after')
    if (answer.ResponseStatus?.ErrorCode === 'Overloaded' && retryAfter !== null && tries > 0) {
      await sleep(1_000 * Number(retryAfter))
      return answerOf(url, contentType, body, tries - 1)
    }
    const counts = answer.SourceRecords?.map(({ Count }) => Count) ?? [answer.Count ?? 0]
    return { status: response.status, count: counts.reduce((sum, count) => sum + count, 0) }
  } catch {
    return { status: 0, count: 0 }
  }
}

interface Answered {
  readonly SourceRecords?: readonly { readonly Count: number }[]
  readonly Count?: number
  readonly ResponseStatus?: { readonly ErrorCode: string }
}

function jsonOf(request: object): Sent {
  return { path: '/api/recipients', contentType: 'application/json', body: JSON.stringify(request) }
}

function sentOf({ path, contentType, packed }: Original, text: string): Sent {
  return { path, contentType, body: packed === undefined ? text : packed(text) }
}

/** Tokens left out, given again, exchanged, or with others between them. */
function reordered(original: Original, random: Random): Sent {
  let tokens = [...original.tokens]
  for (let change = random.pick([1, 1, 1, 2, 4]); change > 0; change--) {
    const from = random.between(0, tokens.length - 1)
    const to = Math.min(tokens.length, from + random.pick([1, 1, 2, 2, 8, 40]))
    const way = random.between(0, 4)
    if (way === 0) tokens = tokens.toSpliced(from, to - from)
    else if (way === 1) tokens = tokens.toSpliced(to, 0, ...tokens.slice(from, to))
    else if (way === 2) tokens = tokens.toSpliced(from, 0, random.pick(original.others))
    else if (way === 3) tokens = tokens.toSpliced(from, 1, random.pick(original.others))
    else {
      const other = random.between(0, tokens.length - 1)
      const taken = tokens[from]
      tokens[from] = tokens[other]
      tokens[other] = taken
    }
  }
  return sentOf(original, tokens.join(''))
}

/** Any characters or bytes changed, so that it may be somewhere else. */
function damaged(original: Original, random: Random): Sent {
  const sent = sentOf(original, original.tokens.join(''))
  let text = sent.body.toString('latin1')
  for (let change = random.pick([1, 1, 2, 5]); change > 0; change--) {
    const at = random.between(0, text.length - 1)
    const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << random.between(0, 7)))
    const isFlipped = random.unit() < 0.5
    text = isFlipped ? text.slice(0, at) + flipped + text.slice(at + 1) : mutatedText(text, random)
  }
  return { ...sent, body: Buffer.from(text, 'latin1') }
}

const BODY_BYTES = 4 * 1024 * 1024

function* hostile(): Generator<[string, string, string, string | Buffer]> {
  const path = '/api/recipients?countsOnly=true&expired=true'
  const laughs = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`,
  )
  const xxe = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>'
  const billion = `<!DOCTYPE a [<!ENTITY a0 "ha">${laughs.join('')}]><a>&a9;</a>`
  const nested = '<a>'.repeat(BODY_BYTES / 3 - 1)
  const attributes = `<a ${Array.from({ length: 150_000 }, (_, i) => `a${i}=""`).join(' ')}/>`
  for (const type of ['cap+xml', 'vnd.google-earth.kml+xml', 'gpx+xml', 'xml']) {
    yield [`billion laughs as ${type}`, path, `application/${type}`, billion]
    yield [`an external entity as ${type}`, path, `application/${type}`, xxe]
    yield [`nested elements as ${type}`, path, `application/${type}`, nested]
    yield [`attributes as ${type}`, path, `application/${type}`, attributes]
  }
  const kmz = 'application/vnd.google-earth.kmz'
  const bomb = { name: 'doc.kml', content: Buffer.alloc(256 * 1024 * 1024) }
  yield ['a bomb that says so', path, kmz, zipOf([bomb])]
  yield ['a bomb that does not', path, kmz, zipOf([{ ...bomb, size: 1_000 }])]
  const links = `<a><!--${'<NetworkLink '.repeat(150_000)}--><b/></a>`
  yield ['a comment of links', path, kmz, zipOf([{ name: 'doc.kml', content: links }])]
  const [start, end] = [
    '<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><info>',
    '</info></alert>',
  ]
  const circles = `<area>${'<circle>0,0 1</circle>'.repeat(80_000)}</area>`
  yield ['circles', path, 'application/cap+xml', start + circles + end]
  yield ['areas', path, 'application/cap+xml', start + '<area/>'.repeat(90_000) + end]
  const collections = JSON.stringify({ wkt: 'GEOMETRYCOLLECTION('.repeat(200_000) })
  yield ['nested collections', path, 'application/json', collections]
  yield ['nested arrays', path, 'application/topo+json', '['.repeat(BODY_BYTES)]
  const wkb = JSON.stringify({ wkb: `0107000000ffffffff${'0'.repeat(4_000_000)}` })
  yield ['a count beyond the bytes', path, 'application/json', wkb]
}
