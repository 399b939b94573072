/**
 * The documents that come with the program: the configuration that is served until one is stored,
 * and the contexts of the embedded sample.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Static, TSchema } from '#typebox'
import { bind } from '../interface/bind.js'
import { MapConfigurationSchema } from '../interface/configuration.js'
import { MapContextSchema } from '../interface/context.js'
import type { CountMode } from '../interface/count-mode.js'
import { hashOf } from './hash.js'
import { type WrittenContext, writtenContext } from './written-context.js'

/** `data/default` of the installation, seen from `dist/src/store`. */
export const DEFAULT_DIRECTORY = fileURLToPath(new URL('../../../data/default', import.meta.url))

interface BuiltInConfiguration {
  readonly version: string
  readonly json: Uint8Array
  readonly countMode: CountMode
}

export function builtInConfiguration(): BuiltInConfiguration {
  const path = join(DEFAULT_DIRECTORY, 'configuration.json')
  const configuration = readDocument(path, MapConfigurationSchema)
  const json = Buffer.from(JSON.stringify(configuration))
  return { version: hashOf(json), json, countMode: countModeOf(configuration) }
}

/** What a configuration says of it, or `ContactLocation`. */
export function countModeOf(configuration: { readonly contactCountMode?: CountMode }): CountMode {
  return configuration.contactCountMode ?? 'ContactLocation'
}

export function sampleContexts(): WrittenContext[] {
  const directory = join(DEFAULT_DIRECTORY, 'contexts')
  return readdirSync(directory).map((name) =>
    writtenContext(readDocument(join(directory, name), MapContextSchema)),
  )
}

/** Its members come in the order of the schema. */
function readDocument<Schema extends TSchema>(path: string, schema: Schema): Static<Schema> {
  return bind(schema, JSON.parse(readFileSync(path, 'utf8')))
}
