/**
 * The documents that come with the program, for the embedded sample of recipients.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MapConfigurationSchema } from '../interface/configuration.js'
import { type Area, type Contact, MapContextSchema } from '../interface/context.js'
import { readDocument, writeDocument } from './document-file.js'

/** `data/default` of the installation, seen from `dist/src/store`. */
export const DEFAULT_DIRECTORY = fileURLToPath(new URL('../../../data/default', import.meta.url))

/**
 * Counts who is inside an area.
 *
 * @param rings  longitudes and latitudes in degrees; the first ring is the outline, others holes
 */
export type CountContacts = (
  rings: readonly (readonly (readonly number[])[])[],
) => Promise<Contact[]>

/**
 * Puts the default configuration and contexts into a data directory. What is there already is
 * left as it is.
 */
export async function writeDefaultDocuments(
  dataDirectory: string,
  countContacts: CountContacts,
): Promise<void> {
  await mkdir(join(dataDirectory, 'contexts'), { recursive: true })
  for (const name of await readdir(join(DEFAULT_DIRECTORY, 'contexts'))) {
    const target = join(dataDirectory, 'contexts', name)
    if (existsSync(target)) continue
    const context = await readDocument(join(DEFAULT_DIRECTORY, 'contexts', name), MapContextSchema)
    const areas: Area[] = []
    for (const area of context.Areas ?? []) areas.push(await counted(area, countContacts))
    await writeDocument(target, { ...context, Areas: areas })
  }
  const target = join(dataDirectory, 'configuration.json')
  if (existsSync(target)) return
  const source = join(DEFAULT_DIRECTORY, 'configuration.json')
  await writeDocument(target, await readDocument(source, MapConfigurationSchema))
}

async function counted(area: Area, countContacts: CountContacts): Promise<Area> {
  const contacts = await countContacts(area.Geometry?.rings ?? [])
  const totalCount = contacts.reduce((total, { Count = 0 }) => total + Count, 0)
  return { ...area, Contacts: contacts, ContactTotalCount: totalCount }
}
