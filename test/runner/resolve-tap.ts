/**
 * Hooks of the loader in a lane: whatever imports `tap` gets file-tap.ts.
 *
 * @module
 */
import type { ResolveHook } from 'node:module'

const FILE_TAP = new URL('file-tap.js', import.meta.url).href

export const resolve: ResolveHook = (specifier, context, nextResolve) =>
  specifier === 'tap' ? { url: FILE_TAP, shortCircuit: true } : nextResolve(specifier, context)
