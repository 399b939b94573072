/**
 * Who may call an operation, in the words of descriptions.
 *
 * @module
 */
import type { NamedOperation } from './schema.js'

export function whoMayCall({
  scopes,
  isWrite,
}: Pick<NamedOperation, 'scopes' | 'isWrite'>): string {
  const keyed = `Where the service asks for keys: for keys with the scope ${scopes.join(' or ')}.`
  return isWrite ? `${keyed} Otherwise accepted only from the machine of the service.` : keyed
}
