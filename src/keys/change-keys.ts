/**
 * Changes to keys: made, given another secret, revoked. Each is whole or not made at all.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { KeyChanger } from '../store/keys.js'
import {
  type KeyRecord,
  keyHash,
  makeKeyId,
  makeKeyText,
  readKeyRecord,
  stateOf,
} from './key-record.js'

/** The settings of a new key. */
type KeySettings = Omit<KeyRecord, 'createdAt' | 'revokedAt' | 'slot' | 'secrets'>

/** A new secret, which is in memory only. */
export interface NewSecret {
  /** What a client sends. */
  readonly text: string
  /** The version of the keys with the change. */
  readonly version: number
  readonly record: KeyRecord
}

/**
 * Makes a key. A revoked one of the same name is forgotten.
 *
 * @throws OperatorError  Usage, when there is one of this name, or there are too many
 */
export function createKey(keys: KeyChanger, settings: KeySettings, nowMs: number): NewSecret {
  return make(keys, (found) => {
    const earlier = found.find(({ record }) => record?.name === settings.name)
    if (earlier?.record !== undefined && earlier.record.revokedAt === undefined) {
      throw new OperatorError(
        'Usage',
        `there is a key ${settings.name} already: choose another --name, or give that one a new secret ` +
          `with \`hickory keys rotate ${settings.name}\``,
      )
    }
    refuseForeignCertificates(found, settings.name, settings.certificates)
    const removed = earlier ?? (found.length < limits.keyCount ? undefined : oldestRevoked(found))
    const id = makeKeyId()
    const text = makeKeyText(id)
    const createdAt = timeAt(nowMs)
    const record: KeyRecord = {
      ...settings,
      createdAt,
      slot: freeSlot(found.filter((one) => one !== removed)),
      secrets: [{ hash: keyHash(text).toString('hex'), createdAt, place: 0 }],
    }
    return { id, text, record, removedId: removed?.id }
  })
}

/**
 * Gives a key another secret. The old one stays valid for a while, until all clients have the new one.
 *
 * @throws OperatorError  Usage, when there is no such key, or it has two secrets already
 */
export function rotateKey(
  keys: KeyChanger,
  name: string,
  { nowMs, keepMs }: { readonly nowMs: number; readonly keepMs: number },
): NewSecret {
  return make(keys, (found) => {
    const { id, record } = usable(found, name, nowMs)
    const [old, older] = record.secrets
    if (older?.endsAt !== undefined && Date.parse(older.endsAt) > nowMs) {
      throw new OperatorError(
        'Usage',
        `the key ${name} has two live secrets, the old one until ${older.endsAt}: end that first with ` +
          `\`hickory keys rotate ${name} --finish\``,
      )
    }
    const text = makeKeyText(id)
    const hash = keyHash(text).toString('hex')
    const place = old.place === 0 ? 1 : 0
    const secret = { hash, createdAt: timeAt(nowMs), place } as const
    const kept = keepMs > 0 ? [{ ...old, endsAt: timeAt(nowMs + keepMs) }] : []
    return { id, text, record: { ...record, secrets: [secret, ...kept] } }
  })
}

/**
 * Ends the old secret of a key that was given another one.
 *
 * @returns the version of the keys with that
 * @throws OperatorError  Usage, when there is no such key, or it has one secret
 */
export function finishRotation(keys: KeyChanger, name: string, nowMs: number): number {
  return keys.change(({ records }) => {
    const { id, record } = usable(readAll(records), name, nowMs)
    const [secret, old] = record.secrets
    if (old === undefined) {
      throw new OperatorError(
        'Usage',
        `the key ${name} has one secret, and none to end; \`hickory keys rotate ${name}\` gives it ` +
          'another one',
      )
    }
    return new Map([[id, JSON.stringify({ ...record, secrets: [secret] })]])
  })
}

/**
 * Sets the TLS certificates that are accepted for a key, in place of those that it had.
 *
 * @param certificates  SHA-256 of each, in hexadecimal digits
 * @returns the version of the keys with that
 * @throws OperatorError  Usage, when there is no such key, or another one has a certificate
 */
export function certifyKey(
  keys: KeyChanger,
  name: string,
  certificates: readonly string[],
  nowMs: number,
): number {
  return keys.change(({ records }) => {
    const found = readAll(records)
    const { id, record } = usable(found, name, nowMs)
    refuseForeignCertificates(found, name, certificates)
    const { certificates: _, ...rest } = record
    const certified = certificates.length === 0 ? rest : { ...rest, certificates }
    return new Map([[id, JSON.stringify(certified)]])
  })
}

/**
 * Ends a key for good. One that is damaged is removed by its id.
 *
 * @returns the version of the keys with that
 * @throws OperatorError  Usage, when there is no such key
 */
export function revokeKey(keys: KeyChanger, name: string, nowMs: number): number {
  return keys.change(({ records }) => {
    const found = readAll(records)
    const damaged = found.find(({ id, record }) => record === undefined && id === name)
    if (damaged !== undefined) return new Map([[damaged.id, undefined]])
    const { id, record } = named(found, name)
    // Revoked twice: the first time counts.
    if (record.revokedAt !== undefined) return new Map()
    return new Map([[id, JSON.stringify({ ...record, revokedAt: timeAt(nowMs) })]])
  })
}

/** A certificate stands for one key only. */
function refuseForeignCertificates(
  found: readonly StoredKey[],
  name: string,
  certificates: readonly string[] = [],
): void {
  for (const { record } of found) {
    if (record === undefined || record.name === name || record.revokedAt !== undefined) continue
    if (!certificates.some((one) => record.certificates?.includes(one))) continue
    throw new OperatorError(
      'Usage',
      `the certificate stands for the key ${record.name} already: take it from that with ` +
        `\`hickory keys certificates ${record.name}\`, or use another one`,
    )
  }
}

interface StoredKey {
  readonly id: string
  /** Undefined where it is damaged. */
  readonly record: KeyRecord | undefined
}

export function readAll(records: ReadonlyMap<string, string>): StoredKey[] {
  return Array.from(records, ([id, json]) => ({ id, record: readKeyRecord(json) }))
}

interface KeyChange {
  readonly id: string
  readonly text: string
  readonly record: KeyRecord
  readonly removedId?: string | undefined
}

function make(keys: KeyChanger, makeFrom: (found: readonly StoredKey[]) => KeyChange): NewSecret {
  const made: KeyChange[] = []
  const version = keys.change(({ records }) => {
    const one = makeFrom(readAll(records))
    made.push(one)
    const changes = new Map<string, string | undefined>()
    if (one.removedId !== undefined) changes.set(one.removedId, undefined)
    changes.set(one.id, JSON.stringify(one.record))
    // A secret that has leaked must be replaced however many keys there are.
    if (!records.has(one.id)) refuseTooLarge(new Map([...records, ...changes]))
    return changes
  })
  const [{ text, record }] = made
  return { text, record, version }
}

/** Boundaries are what takes room. */
function refuseTooLarge(records: ReadonlyMap<string, string | undefined>): void {
  let bytes = 0
  for (const json of records.values()) bytes += Buffer.byteLength(json ?? '')
  if (bytes <= limits.keyRecordBytes) return
  throw new OperatorError(
    'Usage',
    `all keys together would take ${bytes} bytes, and may take ${limits.keyRecordBytes}: simplify the ` +
      'boundary, or revoke keys that nobody uses and make them again without one',
  )
}

function named(found: readonly StoredKey[], name: string): { id: string; record: KeyRecord } {
  for (const { id, record } of found) if (record?.name === name) return { id, record }
  const names = found.flatMap(({ record }) =>
    record === undefined || record.revokedAt !== undefined ? [] : [record.name],
  )
  const known = names.length > 0 ? `there are ${names.sort().join(', ')}` : 'there is none yet'
  throw new OperatorError('Usage', `there is no key ${name}: ${known}`)
}

function usable(found: readonly StoredKey[], name: string, nowMs: number) {
  const one = named(found, name)
  const state = stateOf(one.record, nowMs)
  if (state === 'live') return one
  throw new OperatorError(
    'Usage',
    `the key ${name} is ${state}, and stays so: make a new one with \`hickory keys create\``,
  )
}

function oldestRevoked(found: readonly StoredKey[]): StoredKey {
  const revoked = found.filter(({ record }) => record?.revokedAt !== undefined)
  const [oldest] = revoked.sort((a, b) =>
    (a.record?.revokedAt ?? '') < (b.record?.revokedAt ?? '') ? -1 : 1,
  )
  if (oldest !== undefined) return oldest
  throw new OperatorError(
    'Usage',
    `there are ${limits.keyCount} keys, which is the most: revoke those that nobody uses`,
  )
}

function freeSlot(found: readonly StoredKey[]): number {
  const taken = new Set(found.map(({ record }) => record?.slot))
  let slot = 0
  while (taken.has(slot)) slot++
  return slot
}

function timeAt(ms: number): string {
  return new Date(ms).toISOString()
}
