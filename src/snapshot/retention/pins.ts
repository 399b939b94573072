/**
 * What an operator says of snapshots: which ones are kept for ever, and which ones have counts that are
 * right although guards would hold them back. A file in the data directory, changed under its lock.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { replaceFile } from '../../durable-files.js'
import { limits } from '../../limits.js'
import { validatorOf } from '../../validator.js'
import { SNAPSHOT_ID } from '../directory.js'
import { corrupt, readFault } from '../open-file.js'
import type { DataLock } from '../publish/lock.js'

const PINS_FILE = 'pins.json'

const closed = { additionalProperties: false } as const
const Id = Type.String({ pattern: SNAPSHOT_ID.source })

const PinSchema = Type.Object(
  { id: Id, pinnedAt: Type.String(), note: Type.Optional(Type.String()) },
  closed,
)

const PinsSchema = Type.Object(
  {
    pins: Type.Array(PinSchema, { maxItems: limits.pinCount }),
    /** Ids of snapshots of which the counts are right. */
    accepted: Type.Array(Id),
  },
  closed,
)

export type Pin = Static<typeof PinSchema>
type Pins = Static<typeof PinsSchema>

const validator = validatorOf(PinsSchema)

/** @throws OperatorError  `SnapshotCorrupt`, or `Failed` as `readFault` says */
export async function readPins(dataDirectory: string): Promise<Pins> {
  const path = join(dataDirectory, PINS_FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { pins: [], accepted: [] }
    throw readFault(path, error)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw corrupt(path, 'found what is not JSON; correct it, or remove it and pin again')
  }
  if (validator.Check(value)) return value
  const [error] = validator.Errors(value)
  throw corrupt(path, `found ${error?.instancePath || '/'}, which ${error?.message}`)
}

/** Replaces all of them; after a crash they are as before, or these. */
export async function writePins(
  { dataDirectory, assertHeld }: DataLock,
  pins: Pins,
): Promise<void> {
  assertHeld()
  await replaceFile(join(dataDirectory, PINS_FILE), `${JSON.stringify(pins, null, 2)}\n`)
}
