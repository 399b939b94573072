/**
 * Columns of people as an import would make them, with their keys and contacts.
 *
 * @module
 */
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { RecipientCollector } from '../../../src/sources/columns/collector.js'
import { batchOf, type TestRecipient } from './columns.js'

export async function columnsWith(
  people: readonly (TestRecipient & { readonly key: string })[],
  hasKeys: boolean,
): Promise<RecipientColumns> {
  const collector = new RecipientCollector()
  const keys = people.map(({ key }) => Buffer.from(key))
  const keyOffsets = new Uint32Array(keys.length + 1)
  for (const [at, key] of keys.entries()) keyOffsets[at + 1] = keyOffsets[at] + key.length
  const batch = batchOf(people)
  collector.add(hasKeys ? { ...batch, keyOffsets, keys: Buffer.concat(keys) } : batch)
  return await collector.finish()
}
