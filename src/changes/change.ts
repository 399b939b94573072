/**
 * One change of a recipient, as a row of JSON says it. The rules for its values are those of imports
 * (sources/rows/row-rules.ts).
 *
 * @module
 */
import Type, { type Static } from '#typebox'
import type { E164Numbers } from '../sources/rows/e164.js'
import { type RejectReason, rejectReasons } from '../sources/rows/rejects.js'
import {
  contactFault,
  keyFault,
  latFault,
  lngFault,
  phoneFault,
  positionFault,
  unitsOf,
} from '../sources/rows/row-rules.js'
import { validatorOf } from '../validator.js'

export type Change = RowChange | Clear

/** A change of one recipient. */
export type RowChange = Upsert | Delete

/** A recipient that is there from now on, alone with its identity. */
export interface Upsert {
  readonly op: 'upsert'
  readonly identity: string
  readonly phone: string
  /** Units of 1e-7 degree. */
  readonly lng: number
  readonly lat: number
  /** Empty where there is none. */
  readonly contact: string
  /** Undefined where the source has no keys. */
  readonly key: string | undefined
}

/** Whoever has the identity is there no more. */
interface Delete {
  readonly op: 'delete'
  readonly identity: string
}

/** Nobody of the source is there any more. No row of JSON says so. */
interface Clear {
  readonly op: 'clear'
}

/** How rows of a source are read. */
export interface ChangeRules {
  /** Whether recipients of the source have keys. */
  readonly hasKeys: boolean
  /** Whether the position 0,0 is a place like others. */
  readonly allowsNullIsland: boolean
  /** Makes E.164 of the numbers, if that is wanted. */
  readonly numbers: E164Numbers | undefined
}

/** What is wrong with a row; says nothing of phones and positions. */
export class ChangeFault extends Error {}

/**
 * @param text  of a JSON object
 * @throws ChangeFault
 */
export function readChange(text: string, rules: ChangeRules): RowChange {
  return changeOf(parsed(text), rules)
}

/**
 * @param row  as JSON has it
 * @throws ChangeFault
 */
export function changeOf(row: unknown, rules: ChangeRules): RowChange {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw new ChangeFault('it is not a JSON object')
  }
  const { op } = row as { op?: unknown }
  if (op === 'delete') return readDelete(row, rules)
  if (op === 'upsert') return readUpsert(row, rules)
  throw new ChangeFault('"op" must be "upsert" or "delete"')
}

/** By key, or by number and contact. */
export function identityOf(phone: string, contact: string): string {
  // No phone has a control character, so that no two pairs give the same text.
  return `${phone}\0${contact}`
}

const Text = Type.Union([Type.String(), Type.Integer()])
const optional = {
  key: Type.Optional(Text),
  contact: Type.Optional(Type.Union([Text, Type.Null()])),
}
const closed = { additionalProperties: false } as const

const UpsertSchema = Type.Object(
  { op: Type.String(), number: Text, lat: Type.Number(), lng: Type.Number(), ...optional },
  closed,
)
const DeleteSchema = Type.Object(
  { op: Type.String(), number: Type.Optional(Text), ...optional },
  closed,
)

const upserts = validatorOf(UpsertSchema)
const deletes = validatorOf(DeleteSchema)

function readUpsert(row: object, rules: ChangeRules): Upsert {
  if (!upserts.Check(row)) throw shapeFault(row, UPSERT_MEMBERS, ['number', 'lat', 'lng'])
  const { lat, lng } = row
  const { phone, contact, key } = identityTexts(row, rules)
  refuse(latFault(lat) ?? lngFault(lng))
  if (!rules.allowsNullIsland) refuse(positionFault(lat, lng))
  return {
    op: 'upsert',
    identity: key ?? identityOf(phone, contact),
    phone,
    lng: unitsOf(lng),
    lat: unitsOf(lat),
    contact,
    key,
  }
}

function readDelete(row: object, rules: ChangeRules): Delete {
  if (!deletes.Check(row)) throw shapeFault(row, DELETE_MEMBERS, [])
  if (rules.hasKeys) {
    if (row.number !== undefined || row.contact !== undefined) {
      throw new ChangeFault('the source has keys: a "delete" has "key" and nothing else')
    }
    return { op: 'delete', identity: keyOf(row, rules) ?? '' }
  }
  const { number } = row
  if (number === undefined) throw new ChangeFault('"number" is missing')
  const { phone, contact } = identityTexts({ ...row, number }, rules)
  return { op: 'delete', identity: identityOf(phone, contact) }
}

const UPSERT_MEMBERS = ['op', 'key', 'number', 'lat', 'lng', 'contact'] as const
const DELETE_MEMBERS = ['op', 'key', 'number', 'contact'] as const

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ChangeFault('it is not JSON')
  }
}

/** Says which member is not as it must be. */
function shapeFault(row: object, known: readonly string[], needed: readonly string[]): ChangeFault {
  const stranger = Object.keys(row).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    const shown = JSON.stringify(stranger).slice(0, SHOWN_CHAR_COUNT)
    return new ChangeFault(`${shown} is no member of it; its members are ${known.join(', ')}`)
  }
  const missing = needed.find((name) => !Object.hasOwn(row, name))
  if (missing !== undefined) return new ChangeFault(`"${missing}" is missing`)
  for (const [name, value] of Object.entries(row)) {
    const isPosition = name === 'lat' || name === 'lng'
    if (isPosition && !Number.isFinite(value)) {
      return new ChangeFault(`"${name}" must be a number of degrees`)
    }
    const isText = typeof value === 'string' || Number.isSafeInteger(value)
    if (!isPosition && !isText && !(name === 'contact' && value === null)) {
      return new ChangeFault(`"${name}" must be a text or a whole number`)
    }
  }
  return new ChangeFault('it is no change')
}

const SHOWN_CHAR_COUNT = 40

type Row = Static<typeof UpsertSchema> | (Static<typeof DeleteSchema> & { number: string | number })

function identityTexts(row: Pick<Row, 'number' | 'contact' | 'key'>, rules: ChangeRules) {
  const contact = textOf('contact', row.contact ?? '')
  const bytes = Buffer.from(contact)
  refuse(contactFault(bytes, 0, bytes.length))
  const isNone = /^\s*$/.test(contact)
  return {
    phone: phoneOf(textOf('number', row.number), rules.numbers),
    contact: isNone ? '' : contact,
    key: keyOf(row, rules),
  }
}

function phoneOf(text: string, numbers: E164Numbers | undefined): string {
  const bytes = Buffer.from(text)
  refuse(phoneFault(bytes, 0, bytes.length, numbers !== undefined))
  if (numbers === undefined) return text
  const { number, fault } = numbers.read(text)
  refuse(fault)
  return number
}

function keyOf({ key }: Pick<Row, 'key'>, { hasKeys }: ChangeRules): string | undefined {
  if (!hasKeys) {
    if (key === undefined) return undefined
    throw new ChangeFault(
      'the source has no keys (its import had no --key): "key" must be left out, and number and contact say who is meant',
    )
  }
  if (key === undefined)
    throw new ChangeFault('"key" is missing: the source was imported with --key')
  const text = textOf('key', key)
  const bytes = Buffer.from(text)
  refuse(keyFault(bytes, 0, bytes.length))
  return text
}

function textOf(name: string, value: string | number): string {
  const text = String(value)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new ChangeFault(`"${name}" has lost digits: give it as a text`)
  }
  // Half of a surrogate pair has no UTF-8.
  if (/\p{Cs}/u.test(text)) throw new ChangeFault(`"${name}" is not Unicode text`)
  return text
}

function refuse(reason: RejectReason | undefined): void {
  if (reason !== undefined) throw new ChangeFault(rejectReasons[reason])
}
