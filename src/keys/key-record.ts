/**
 * What the store has of a key, as JSON: its record, and its use. A record with a member that this release does not
 * have is damaged, since the member may be a restriction.
 *
 * @module
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import Type, { type Static } from '#typebox'
import { ServiceError } from '../errors.js'
import { layerSize } from '../geometry/layer-parts.js'
import { type KeyScope, keyScopes } from '../interface/key-scopes.js'
import { limits } from '../limits.js'
import { validate } from '../selection/validate.js'
import { validatorOf } from '../validator.js'
import { USE_PLACES } from './key-memory.js'

const closed = { additionalProperties: false } as const
const Time = Type.String({ maxLength: 32 })

const SecretSchema = Type.Object(
  {
    /** SHA-256 of the text of the key, in hexadecimal digits. */
    hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    createdAt: Time,
    /** When it is no longer valid, since another one has replaced it. */
    endsAt: Type.Optional(Time),
    /** Where its use is noted: two that live at a time have different places. */
    place: Type.Union([Type.Literal(0), Type.Literal(1)]),
  },
  closed,
)

const KeyRecordSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: limits.keyNameCharCount }),
    scopes: Type.Array(Type.Unsafe<KeyScope>({ type: 'string', enum: keyScopes }), {
      minItems: 1,
      maxItems: keyScopes.length,
    }),
    createdAt: Time,
    expiresAt: Type.Optional(Time),
    revokedAt: Type.Optional(Time),
    /** Its place in the memory of counts (key-memory.ts), which no other key has. */
    slot: Type.Integer({ minimum: 0, maximum: limits.keyCount - 1 }),
    /** The newest one first. */
    secrets: Type.Array(SecretSchema, { minItems: 1, maxItems: 2 }),
    /** SHA-256 of TLS certificates that are accepted in place of a secret, in hexadecimal digits. */
    certificates: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
        minItems: 1,
        maxItems: limits.keyCertificateCount,
      }),
    ),
    /** Polygons, as GeoJSON or in the notation of Esri. */
    boundary: Type.Optional(Type.Object({})),
    requestsPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.keyRequestsPerSecondCount }),
    ),
    rowsPerDay: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.keyRowsPerDayCount })),
    concurrentLists: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.keyConcurrentListCount }),
    ),
  },
  closed,
)

export type KeyRecord = Static<typeof KeyRecordSchema>

const validator = validatorOf(KeyRecordSchema)

/** @returns undefined for a record that is damaged */
export function readKeyRecord(json: string): KeyRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return undefined
  }
  if (!validator.Check(value)) return undefined
  const { createdAt, expiresAt, revokedAt, secrets, boundary } = value
  const times = [createdAt, expiresAt, revokedAt]
  for (const secret of secrets) times.push(secret.createdAt, secret.endsAt)
  if (times.some((time) => time !== undefined && !Number.isFinite(Date.parse(time)))) {
    return undefined
  }
  if (boundary !== undefined && boundaryFault(boundary) !== undefined) return undefined
  return value
}

type KeyState = 'live' | 'revoked' | 'expired'

export function stateOf({ revokedAt, expiresAt }: KeyRecord, nowMs: number): KeyState {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs ? 'expired' : 'live'
}

/**
 * What is wrong with the boundary of a key; undefined where it can be applied. It is read by the same code as
 * the shapes of requests, but nothing in it is ignored: it is there to keep people out.
 *
 * @param boundary  as GeoJSON or in the notation of Esri
 */
export function boundaryFault(boundary: object): string | undefined {
  try {
    const { shapes, sourceReferences, remarks } = validate({ geoJSON: boundary })
    const { included, excluded, nearest } = shapes
    const isSpecial = excluded.length > 0 || nearest.length > 0 || sourceReferences.length > 0
    if (isSpecial) return `${PLAIN}: exclude, nearest and sources mean nothing here`
    const [warning] = remarks.warnings ?? []
    const hasReach = included.some(({ reaches }) => reaches.radiiMetres.length > 0)
    if (
      hasReach ||
      warning?.Code === 'PointWithoutRadius' ||
      warning?.Code === 'LineWithoutBuffer'
    ) {
      return `${PLAIN}: points, lines, radius and buffer mean nothing here`
    }
    if (included.every((layer) => layerSize(layer) === 0)) return 'it has no polygon'
    return warning && named(`${warning.Path ?? 'geoJSON'} ${warning.Message}`)
  } catch (fault) {
    if (fault instanceof ServiceError) return named(fault.message)
    throw fault
  }
}

/** The member of requests that is read has no name here. */
function named(message: string): string {
  return message.replaceAll('geoJSON.', '').replaceAll('geoJSON', 'it')
}

const PLAIN = 'it must have polygons alone'

/**
 * The text of a key: a prefix by which scanners find it, the id of its record, and the secret. It has no
 * characters at which a double click ends. The store has a hash of the text only. One round of SHA-256 is
 * enough for 256 random bits.
 */
const KEY = /^hk_([0-9a-z]{10})_[0-9A-Za-z]{43}$/

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const ID_DIGIT_COUNT = 10
const SECRET_BYTES = 32
/** What 256 bits need with 62 digits. */
const SECRET_DIGIT_COUNT = 43

export function makeKeyId(): string {
  return inDigits(randomBytes(8), 36, ID_DIGIT_COUNT)
}

/** The text of a key, with a new secret. */
export function makeKeyText(id: string): string {
  return `hk_${id}_${inDigits(randomBytes(SECRET_BYTES), DIGITS.length, SECRET_DIGIT_COUNT)}`
}

/** The id that stands in the text of a key; undefined for any other text. */
export function keyIdOf(text: string): string | undefined {
  return KEY.exec(text)?.[1]
}

export function keyHash(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Compares in a time that does not depend on what is there. */
export function isSameHash(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b)
}

function inDigits(bytes: Buffer, base: number, digitCount: number): string {
  let left = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < digitCount; i++) {
    text = DIGITS[Number(left % BigInt(base))] + text
    left /= BigInt(base)
  }
  return text
}

/** The use of a key. It is no source of truth: a damaged one counts as no use. */
export interface KeyUse {
  /** The day of UTC since 1970. */
  readonly day: number
  /** Rows of lists on that day. */
  readonly rowCount: number
  /** When it was last used, by `USE_PLACES`, in milliseconds since 1970; 0 is never. */
  readonly usedMs: readonly number[]
}

export function readKeyUse(json: string | undefined): KeyUse {
  try {
    const { day, rowCount, usedMs } = JSON.parse(json ?? '{}') as Partial<KeyUse>
    return {
      day: whole(day),
      rowCount: whole(rowCount),
      usedMs: USE_PLACES.map((i) => whole(usedMs?.[i])),
    }
  } catch {
    return { day: 0, rowCount: 0, usedMs: USE_PLACES.map(() => 0) }
  }
}

function whole(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
}
