/**
 * What layers, keys and aliases may be called, and how names are compared.
 *
 * @module
 */
import { limits } from '../limits.js'

const LAYER = new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${limits.areaLayerCharCount - 1}}$`)
const KEY = new RegExp(`^[A-Za-z0-9._~-]{1,${limits.areaKeyCharCount}}$`)

export const isLayerName = (text: string): boolean => LAYER.test(text)
export const isAreaKey = (text: string): boolean => KEY.test(text)

/** What is wrong with a name that is none, for whoever wrote it. */
export const LAYER_RULE = `a letter and at most ${limits.areaLayerCharCount - 1} more letters, digits, _ or -`
export const KEY_RULE = `1 to ${limits.areaKeyCharCount} letters without accents, digits, ., _, ~ or -`

export interface NameParts {
  /** In lower case. */
  readonly prefix: string
  readonly key: string
}

/** The parts of `layer:key`, or of an alias; undefined where it is neither. */
export function partsOf(name: string): NameParts | undefined {
  const colon = name.indexOf(':')
  if (colon < 0) return undefined
  const prefix = name.slice(0, colon)
  const key = name.slice(colon + 1)
  return isLayerName(prefix) && isAreaKey(key) ? { prefix: prefix.toLowerCase(), key } : undefined
}

/** As it is looked up: layers and what stands before the colon in lower case, keys as they are. */
export const lookedUp = ({ prefix, key }: NameParts): string => `${prefix}:${key}`

/**
 * A name that is one, as it is looked up.
 *
 * @throws Error  where it is none
 */
export function nameOf(text: string): string {
  const parts = partsOf(text)
  if (parts === undefined) throw new Error('it is no name of an area')
  return lookedUp(parts)
}

/** A text without accents, in lower case, as texts are searched. */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
