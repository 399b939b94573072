/**
 * Keys, names and aliases of areas, made of the fields of a feature: `0{GEOID}`, `{STATE}C{FIPS:2:5}`.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'

/** Fields in braces, between texts that stay as they are. */
export interface Template {
  readonly text: string
  readonly parts: readonly (string | { readonly field: string })[]
}

/** Makes the text for one feature; undefined where a field is empty or absent. */
export type TemplateFiller = (
  properties: Readonly<Record<string, unknown>>,
  where: string,
) => string | undefined

/** Of a single field. */
export function fieldTemplate(field: string): Template {
  return { text: `{${field}}`, parts: [{ field }] }
}

/**
 * @param flag  for messages
 * @throws OperatorError  Usage for a brace without its other one, or nothing between them
 */
export function readTemplate(text: string, flag: string): Template {
  const parts: (string | { readonly field: string })[] = []
  const wrong = (problem: string): never => {
    throw new OperatorError(
      'Usage',
      `${flag} ${text} ${problem}: a field of the file stands in braces, such as 0{GEOID}, and a brace ` +
        'itself is written twice',
    )
  }
  let literal = ''
  for (let at = 0; at < text.length; ) {
    const pair = text.slice(at, at + 2)
    if (pair === '{{' || pair === '}}') {
      literal += text[at]
      at += 2
    } else if (text[at] === '{') {
      const end = text.indexOf('}', at)
      if (end === -1) wrong('has a { without its }')
      const field = text.slice(at + 1, end)
      if (field === '') wrong('has braces with nothing in them')
      if (literal !== '') parts.push(literal)
      literal = ''
      parts.push({ field })
      at = end + 1
    } else if (text[at] === '}') wrong('has a } without its {')
    else literal += text[at++]
  }
  if (literal !== '') parts.push(literal)
  return { text, parts }
}

/**
 * Looks the fields of a template up. A name may be followed by the characters that are taken of the
 * field, `:start` or `:start:end`, counted from 0 and without the one at the end.
 *
 * @throws OperatorError  InputRejected for a field that the file does not have, with those that it has
 */
export function templateFiller(
  { parts }: Template,
  fields: readonly string[],
  file: string,
  flag: string,
): TemplateFiller {
  const fillers = parts.map((part): TemplateFiller => {
    if (typeof part === 'string') return () => part
    const { field, start, end } = placeOf(part.field, fields, file, flag)
    return (properties, where) => {
      const text = textOf(properties[field], field, where)
      if (text === undefined || start === undefined) return text
      const characters = [...text]
      if (characters.length < (end ?? start + 1)) {
        throw new OperatorError(
          'InputRejected',
          `${where}: its ${field} "${text}" is too short for ${flag} {${part.field}}`,
        )
      }
      return characters.slice(start, end).join('')
    }
  })
  return (properties, where) => {
    let whole = ''
    for (const fill of fillers) {
      const text = fill(properties, where)
      if (text === undefined) return undefined
      whole += text
    }
    return whole
  }
}

/** @throws OperatorError  InputRejected, with the fields that the file has */
export function unknownField(
  field: string,
  fields: readonly string[],
  file: string,
  flag: string,
): OperatorError {
  const shown = fields.slice(0, FIELDS_SHOWN_COUNT).join(', ')
  const more = fields.length > FIELDS_SHOWN_COUNT ? ', …' : ''
  return new OperatorError(
    'InputRejected',
    `${file} has no field "${field}" for ${flag}; its fields are ${shown || 'none'}${more}`,
  )
}

const FIELDS_SHOWN_COUNT = 60

interface FieldPlace {
  readonly field: string
  readonly start?: number
  readonly end?: number
}

function placeOf(name: string, fields: readonly string[], file: string, flag: string): FieldPlace {
  // Names of OpenStreetMap have colons themselves.
  if (fields.includes(name)) return { field: name }
  const [, field, start, end] = /^(.+?):(\d{1,4})(?::(\d{1,4}))?$/.exec(name) ?? []
  if (field === undefined || !fields.includes(field)) {
    throw unknownField(field ?? name, fields, file, flag)
  }
  if (end === undefined) return { field, start: Number(start) }
  if (Number(end) > Number(start)) return { field, start: Number(start), end: Number(end) }
  throw new OperatorError(
    'Usage',
    `${flag} {${name}} takes no character: the end is not after the start`,
  )
}

/**
 * The text of a field, undefined where it is empty.
 *
 * @throws OperatorError  InputRejected for what has no one text, and for a number that has lost digits
 */
export function textOf(value: unknown, field: string, where: string): string | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string') {
    const text = value.trim()
    if (text.includes('\ufffd')) {
      throw new OperatorError(
        'InputRejected',
        `${where}: its ${field} has bytes that are no text: name the encoding with --encoding`,
      )
    }
    return text === '' ? undefined : text
  }
  if (typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value))) {
    return Number.isFinite(value) ? String(value) : undefined
  }
  throw new OperatorError(
    'InputRejected',
    `${where}: its ${field} is ${typeof value === 'number' ? 'a number of too many digits' : 'no text and no number'}: write it as a text`,
  )
}
