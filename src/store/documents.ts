/**
 * The map configuration and the map contexts of a data directory: `configuration.json` and
 * `contexts/*.json`, held as the bytes that are served.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../errors.js'
import { type CountMode, MapConfigurationSchema } from '../interface/configuration.js'
import { type MapContext, MapContextSchema } from '../interface/context.js'
import { limits } from '../limits.js'
import { DEFAULT_DIRECTORY } from './default-documents.js'
import { invalid, readDocument } from './document-file.js'
import { parseGuid } from './guid.js'

/** Plain data, so that it can be handed to other threads. */
export interface StoredDocuments {
  readonly configurationJson: Uint8Array
  /** What the configuration says of it, or `ContactLocation`. */
  readonly countMode: CountMode
  /** JSON of each context, by its id of 32 lower-case hexadecimal digits. */
  readonly contextJsons: ReadonlyMap<string, Uint8Array>
}

/** The documents as they are asked for. */
export interface Documents {
  /** JSON. */
  readonly configuration: Uint8Array
  /**
   * @param id  a Guid in any of its forms
   * @returns JSON
   * @throws ServiceError when this is no Guid, or there is no such context
   */
  findContext(id: string): Uint8Array
}

/**
 * Loads and checks all documents. A directory without a configuration gets the built-in one; one
 * without contexts has none.
 *
 * @throws OperatorError that names the file and the member at fault
 */
export async function loadDocuments(dataDirectory: string): Promise<StoredDocuments> {
  const own = join(dataDirectory, 'configuration.json')
  const path = existsSync(own) ? own : join(DEFAULT_DIRECTORY, 'configuration.json')
  const configuration = await readDocument(path, MapConfigurationSchema)
  return {
    configurationJson: serialise(configuration),
    countMode: configuration.contactCountMode ?? 'ContactLocation',
    contextJsons: await loadContexts(join(dataDirectory, 'contexts')),
  }
}

export function createDocuments(stored: StoredDocuments): Documents {
  return {
    configuration: stored.configurationJson,
    findContext(id) {
      const guid = parseGuid(id)
      if (guid === undefined) throw new ServiceError('InvalidRequest', 'Id is not a Guid', 'Id')
      const json = stored.contextJsons.get(guid)
      if (json === undefined) throw new ServiceError('NotFound', 'there is no context with this Id')
      return json
    },
  }
}

async function loadContexts(directory: string): Promise<Map<string, Uint8Array>> {
  const contexts = new Map<string, Uint8Array>()
  if (!existsSync(directory)) return contexts
  const names = (await readdir(directory)).filter((name) => /^[^.].*\.json$/.test(name)).sort()
  if (names.length > limits.contextCount) {
    throw invalid(directory, `holds more than ${limits.contextCount} contexts`)
  }
  for (const name of names) {
    const path = join(directory, name)
    const context = await readDocument(path, MapContextSchema)
    const id = idOf(path, context)
    if (contexts.has(id)) throw invalid(path, `Id ${id} is used by another context as well`)
    contexts.set(id, serialise({ ...context, Id: id }))
  }
  return contexts
}

function idOf(path: string, { Id }: MapContext): string {
  const id = Id === undefined ? undefined : parseGuid(Id)
  if (id === undefined) throw invalid(path, 'Id must be a Guid')
  return id
}

/** In a buffer of its own: small ones would share a pool, and be handed to threads with it. */
function serialise(document: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(document))
}
