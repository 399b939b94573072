/**
 * How the changes of a source are read.
 *
 * @module
 */
import type { ChangeRules } from '../changes/change.js'
import type { Catalogue } from '../selection/catalogue.js'

/** @returns undefined where there is no such source */
export function changeableSource(
  { sources }: Pick<Catalogue, 'sources'>,
  id: number,
): { readonly rules: ChangeRules | undefined; readonly recipientCount: number } | undefined {
  const source = sources.find((each) => each.id === id)
  if (source === undefined) return undefined
  const { hasKeys, recipientCount = 0 } = source
  if (hasKeys === undefined) return { rules: undefined, recipientCount }
  // A snapshot does not say how its numbers were normalized, so that they are taken as they come.
  return { rules: { hasKeys, allowsNullIsland: false, numbers: undefined }, recipientCount }
}
