/**
 * Changes that a command makes in a cluster: the service of its data directory has them written, as those that it gets
 * over HTTP.
 *
 * @module
 */
import Type from '#typebox'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { validatorOf } from '../validator.js'
import { openClusterClient } from './client.js'
import { type Entry, encodeEntry, type StoreEntry } from './entries.js'
import type { Entered } from './messages.js'
import { readConnection } from './state-file.js'

/** Of the kinds that commands make. */
export type EnteredEntry = Extract<StoreEntry, { kind: 'suppressions' | 'keys' }>

/** Whether an entry may be made: nobody could put another one into a store, and it would be in the journal for ever. */
export function isEnterable(entry: Entry | undefined): entry is EnteredEntry {
  if (entry?.kind !== 'suppressions' && entry?.kind !== 'keys') return false
  return validators[entry.kind].Check(entry)
}

const validators = {
  suppressions: validatorOf(
    Type.Object({
      scope: Type.Union([Type.Literal('all'), Type.Integer({ minimum: 0 })]),
      phones: Type.Array(Type.String({ minLength: 1, maxLength: limits.phoneBytes }), {
        maxItems: limits.suppressionBatchCount,
      }),
      isRemoval: Type.Boolean(),
    }),
  ),
  keys: validatorOf(
    Type.Object({
      version: Type.Integer({ minimum: 0 }),
      records: Type.Array(
        Type.Tuple([
          Type.String({ minLength: 1 }),
          Type.Union([Type.String({ maxLength: limits.keyRecordBytes }), Type.Null()]),
        ]),
        { maxItems: limits.keyCount },
      ),
    }),
  ),
}

export interface Entering {
  /** @throws OperatorError  Failed, as a rejection: no service is there, or what has become of the entry is not known */
  make(entry: EnteredEntry): Promise<Entered>
  close(): Promise<void>
}

/**
 * @param dataDirectory  of a machine of a cluster, whose service runs
 * @throws OperatorError  as a rejection
 */
export async function openEntering(dataDirectory: string): Promise<Entering> {
  const known = readConnection(dataDirectory)
  if (known === undefined) throw noService(dataDirectory)
  const { name } = known
  const client = await openClusterClient(known, 'machine')
  return {
    async make(entry) {
      const question = { kind: 'enter', entry: encodeEntry(entry) } as const
      try {
        return await client.ask<'enter'>(name, question, limits.enteredMs)
      } catch (fault) {
        const { message, cause } = fault as OperatorError
        const { kind } = (cause ?? {}) as { kind?: string }
        if (kind === 'absent') throw noService(dataDirectory, name)
        if (kind !== 'late') throw fault
        const hint = 'the change may be made all the same, so look before you repeat it'
        throw new OperatorError('Failed', `${message}: ${hint}`, { cause })
      }
    },
    close: () => client.close(),
  }
}

function noService(dataDirectory: string, name = 'its machine'): OperatorError {
  return new OperatorError(
    'Failed',
    `${dataDirectory} is of a cluster, and the service of ${name} does not run, which has changes made on all machines: ` +
      'start it, or run the command where one runs',
  )
}
