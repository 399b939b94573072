/**
 * The forms in which a request can be sent, each as its Content-Type says, or not.
 *
 * @module
 */
import { jsvText, writeJsv } from '../../../src/format/jsv.js'
import { spelledJson } from '../../support/random/request-text.js'
import type { Random } from '../../support/random/world.js'
import { mutatedJson } from '../mutate/json.js'
import { mutatedText } from '../mutate/text.js'

export interface Body {
  readonly contentType: string | undefined
  readonly text: string
}

export function randomBody(
  members: Readonly<Record<string, unknown>>,
  isBatch: boolean,
  random: Random,
): Body {
  const value = isBatch ? Array.from({ length: random.between(0, 4) }, () => members) : members
  const share = random.unit()
  if (share < 0.1) return { contentType: JSON_TYPE, text: JSON.stringify(value) }
  if (share < 0.15) return { contentType: JSON_TYPE, text: spelledJson(value, random) }
  if (share < 0.72) return changed(jsonBody(mutatedJson(value, random), random), 0.15, random)
  const form = random.pick(forms)(members, random)
  return changed(form, 0.5, random)
}

const JSON_TYPE = 'application/json'

function jsonBody(text: string, random: Random): Body {
  return { contentType: random.unit() < 0.9 ? JSON_TYPE : random.pick(types), text }
}

function changed(body: Body, share: number, random: Random): Body {
  return random.unit() < share ? { ...body, text: mutatedText(body.text, random) } : body
}

const types: readonly (string | undefined)[] = [
  ...[
    undefined,
    '',
    'application/json; charset=utf-16',
    'APPLICATION/JSON',
    'text/plain',
    'text/csv',
  ],
  ...['application/x-www-form-urlencoded', 'application/jsv', 'text/x-jsv', 'multipart/form-data'],
  ...['multipart/form-data; boundary=', 'multipart/form-data; boundary="b', 'application/xml', ';'],
]

type Form = (members: Readonly<Record<string, unknown>>, random: Random) => Body

const forms: readonly Form[] = [pairs, parts, jsv, csv]

function pairs(members: Readonly<Record<string, unknown>>, random: Random): Body {
  const text = fieldsOf(members, random)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
  return { contentType: 'application/x-www-form-urlencoded', text }
}

function parts(members: Readonly<Record<string, unknown>>, random: Random): Body {
  const boundary = random.pick(['b', 'boundary', '----x', 'a b', '.*'])
  const text = fieldsOf(members, random)
    .map(([name, value]) => {
      const disposition = `Content-Disposition: form-data; name="${name}"`
      return `--${boundary}\r\n${disposition}\r\n\r\n${value}\r\n`
    })
    .join('')
  const written = random.unit() < 0.5 ? boundary : `"${boundary}"`
  const contentType = `multipart/form-data; boundary=${written}`
  return { contentType, text: `${text}--${boundary}--\r\n` }
}

function jsv(members: Readonly<Record<string, unknown>>): Body {
  return { contentType: 'application/jsv', text: writeJsv(members) }
}

function csv(members: Readonly<Record<string, unknown>>, random: Random): Body {
  const fields = fieldsOf(members, random)
  const line = (cells: readonly string[]) => cells.map(csvCell).join(',')
  const text = `${line(fields.map(([name]) => name))}\r\n${line(fields.map(([, value]) => value))}`
  return { contentType: 'text/csv', text: `${text}\r\n` }
}

/** What is nested, in one of the notations that are understood, or with changes. */
function fieldsOf(
  members: Readonly<Record<string, unknown>>,
  random: Random,
): readonly (readonly [string, string])[] {
  const write = random.pick([
    JSON.stringify,
    writeJsv,
    (value: unknown) => mutatedJson(value, random),
    (value: unknown) => mutatedText(writeJsv(value), random),
  ])
  return Object.entries(members).map(([name, value]) => [
    name,
    typeof value === 'string' ? jsvText(value) : (write(value) ?? ''),
  ])
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
