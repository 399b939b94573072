/**
 * Bodies of recipient requests for two readers that must agree: valid ones in every form, spelled in
 * every way, and damaged ones.
 *
 * @module
 */

import { spelledJson } from '../../support/random/request-text.js'
import { randomRequest, requestKinds, slowKinds } from '../../support/random/requests.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  worldKinds,
} from '../../support/random/world.js'
import { mutatedJson } from '../mutate/json.js'
import { oddNames, oddNumbers } from '../mutate/odd-values.js'
import { asEsri } from './esri.js'

/** Makes bodies, one after the other, each from where `random` is then. */
export function bodyMaker(random: Random): () => Buffer {
  const worlds = [...worldKinds, ...globeWorldKinds].map((kind) => randomWorld(kind, 200, random))
  return () => {
    const kinds = random.unit() < SLOW_SHARE ? requestKinds : quickKinds
    const request = randomRequest(random.pick(worlds), [1, 2, 3], kinds, random)
    request[random.pick(['countsOnly', 'CountsOnly', 'countsonly'])] = true
    if (random.unit() < 0.3) request.geoJSON = asEsri(request.geoJSON, random)
    if (random.unit() < 0.2) addTexts(request, random)
    const text = textOf(request, random)
    return random.unit() < 0.3 ? damaged(Buffer.from(text), random) : Buffer.from(text)
  }
}

/** Margins of many arcs take milliseconds, and are read in the same way. */
const SLOW_SHARE = 0.001
const quickKinds = requestKinds.filter((kind) => !slowKinds.includes(kind))

function textOf(request: object, random: Random): string {
  const share = random.unit()
  if (share < 0.35) return JSON.stringify(request)
  if (share < 0.55) return spelledJson(request, random)
  if (share < 0.65) return JSON.stringify(request, null, random.pick([1, 2, '\t', ' \r\n']))
  if (share < 0.75) return withNumber(JSON.stringify(request), random)
  return mutatedJson(request, random)
}

/** Members that clients have for themselves, with names and texts of any kind. */
function addTexts(request: Record<string, unknown>, random: Random): void {
  const own: Record<string, unknown> = {
    [random.pick(['label', 'straße', 'coordinates', 'points', 'a"b', 'ring\\s', ...oddNames])]:
      random.pick([
        'é',
        '\ud83d\udc69',
        '{"coordinates":[1,2]}',
        7,
        0,
        null,
        [],
        [[1, 2]],
        'x'.repeat(20),
      ]),
  }
  const drawing = Object.values(request).find(
    (value) => typeof value === 'object' && value !== null,
  )
  const { features } = (drawing ?? {}) as {
    features?: { properties?: object; geometry?: object }[]
  }
  const [feature] = Array.isArray(features) ? features : []
  const into = random.pick([request, drawing, feature, feature?.properties, feature?.geometry])
  Object.assign(into ?? request, own)
}

const NUMBER = /-?\d+(\.\d+)?([eE][-+]?\d+)?/g

/** With one number in its place that is read in an odd way, or not at all. */
function withNumber(text: string, random: Random): string {
  const numbers = [...text.matchAll(NUMBER)]
  if (numbers.length === 0) return text
  const { index, 0: number } = random.pick(numbers)
  const odd = random.pick([
    ...oddNumbers,
    `-${number}`,
    `0${number}`,
    `${number}0`,
    `${number}.`,
    `"${number}"`,
    `[${number}]`,
    `${number},${number}`,
    `${number},"x"`,
    ` ${number}\n`,
    `${number}e0`,
    `${number}00000000000000000001`,
    digits(random),
  ])
  return text.slice(0, index) + odd + text.slice(index + number.length)
}

/** A number of up to 24 digits with a point anywhere. */
function digits(random: Random): string {
  const digit = () => random.between(0, 9)
  const whole = Array.from({ length: random.between(1, 4) }, digit).join('')
  const fraction = Array.from({ length: random.between(1, 20) }, digit).join('')
  return `${random.pick(['', '-'])}${Number(whole)}.${fraction}`
}

function damaged(body: Buffer, random: Random): Buffer {
  let bytes = body
  for (let count = random.pick([1, 1, 2, 4]); count > 0; count--) {
    bytes = random.pick(DAMAGES)(bytes, random)
  }
  return bytes
}

const SIGNS = [
  '"',
  '\\',
  ',',
  ':',
  '[',
  ']',
  '{',
  '}',
  '0',
  '-',
  '.',
  'e',
  ' ',
  '\n',
  '\0',
  '\\u0063',
]
const PIECES = [
  '[]',
  '[[]]',
  'null',
  '"coordinates":7,',
  '"coordinates":[1,2],',
  '\ufeff',
  '\xa0',
  '{}',
]

const DAMAGES: readonly ((bytes: Buffer, random: Random) => Buffer)[] = [
  (bytes, random) => {
    const flipped = Buffer.from(bytes)
    if (flipped.length > 0)
      flipped[random.between(0, flipped.length - 1)] ^= 1 << random.between(0, 7)
    return flipped
  },
  (bytes, random) => bytes.subarray(0, random.between(0, bytes.length)),
  (bytes, random) => spliced(bytes, random.between(0, bytes.length), 1, Buffer.alloc(0)),
  (bytes, random) => spliced(bytes, random.between(0, bytes.length), 0, text(random.pick(SIGNS))),
  (bytes, random) => spliced(bytes, random.between(0, bytes.length), 1, text(random.pick(SIGNS))),
  (bytes, random) => spliced(bytes, random.between(0, bytes.length), 0, text(random.pick(PIECES))),
  (bytes, random) =>
    spliced(bytes, random.pick([0, bytes.length]), 0, text(random.pick([...SIGNS, ...PIECES]))),
  (bytes, random) =>
    spliced(bytes, random.between(0, bytes.length), 0, Buffer.of(random.between(128, 255))),
  (bytes, random) => {
    const at = random.between(0, bytes.length)
    const piece = bytes.subarray(at, at + random.between(1, 40))
    return spliced(bytes, random.between(0, bytes.length), random.pick([0, 0, 5]), piece)
  },
]

function spliced(bytes: Buffer, at: number, droppedBytes: number, added: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + droppedBytes)])
}

function text(sign: string): Buffer {
  return Buffer.from(sign)
}
