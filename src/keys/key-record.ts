/**
 * What the store has of a key, as JSON. A record with anything that this release does not know lets nobody
 * in: it may be a restriction.
 *
 * @module
 */
import Type, { type Static } from '#typebox'
import { type KeyScope, keyScopes } from '../interface/key-scopes.js'
import { limits } from '../limits.js'
import { validatorOf } from '../validator.js'
import { boundaryFault } from './boundary.js'

const closed = { additionalProperties: false } as const
const Time = Type.String({ maxLength: 32 })

const SecretSchema = Type.Object(
  {
    /** SHA-256 of the text of the key, in hexadecimal digits. */
    hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    createdAt: Time,
    /** When it lets nobody in any more, since another one has taken its place. */
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
    /** Which memory its use is counted in: no other key has the same. */
    slot: Type.Integer({ minimum: 0, maximum: limits.keyCount - 1 }),
    /** The newest one first. */
    secrets: Type.Array(SecretSchema, { minItems: 1, maxItems: 2 }),
    /** SHA-256 of TLS certificates that let their owners in, without a secret, in hexadecimal digits. */
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

/** Whether a key lets somebody in, and if not, why. */
type KeyState = 'live' | 'revoked' | 'expired'

export function stateOf({ revokedAt, expiresAt }: KeyRecord, nowMs: number): KeyState {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs ? 'expired' : 'live'
}
