/**
 * The compiler. Node.js would look through all of its text for exports if it were imported, which takes longer than to
 * load it.
 *
 * @module
 */
import { createRequire } from 'node:module'
import type TS from 'typescript'

export const ts = createRequire(import.meta.url)('typescript') as typeof TS
