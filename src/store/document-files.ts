/**
 * The documents of a data directory from before there was a store: `configuration.json` and
 * `contexts/*.json`. They are taken in when a store is created, and not read again.
 *
 * @module
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MapConfigurationSchema } from '../interface/configuration.js'
import { MapContextSchema } from '../interface/context.js'
import { limits } from '../limits.js'
import type { Change } from './changes.js'
import { countModeOf } from './default-documents.js'
import { checked, invalid, readDocument } from './document-file.js'
import { parseGuid } from './guid.js'
import { writtenContext } from './written-context.js'

/**
 * Reads and checks every file.
 *
 * @returns the changes that take them into a store
 * @throws OperatorError that names the file and the member at fault
 */
export function readDocumentFiles(dataDirectory: string): Change[] {
  return [
    ...readConfiguration(join(dataDirectory, 'configuration.json')),
    ...readContexts(join(dataDirectory, 'contexts')),
  ]
}

function readConfiguration(path: string): Change[] {
  if (!existsSync(path)) return []
  const configuration = readDocument(path, MapConfigurationSchema)
  const json = JSON.stringify(configuration)
  return [{ kind: 'configuration', json, countMode: countModeOf(configuration) }]
}

function readContexts(directory: string): Change[] {
  if (!existsSync(directory)) return []
  const names = readdirSync(directory).filter((name) => /^[^.].*\.json$/.test(name))
  if (names.length > limits.contextCount) {
    throw invalid(directory, `holds more than ${limits.contextCount} contexts`)
  }
  const seen = new Set<string>()
  return names.sort().map((name) => {
    const path = join(directory, name)
    const document = readDocument(path, MapContextSchema)
    if (parseGuid(document.Id ?? '') === undefined) throw invalid(path, 'Id must be a Guid')
    const context = checked(path, () => writtenContext(document))
    if (seen.has(context.id)) {
      throw invalid(path, `Id ${context.id} is used by another context as well`)
    }
    seen.add(context.id)
    return { kind: 'context', context, mayReplace: false }
  })
}
