/**
 * Code in WebAssembly that works in the scratch zone that this thread has in an arena.
 *
 * @module
 */
import { type Arena, zoneOf } from './arena.js'
import { compileKernel } from './compile-kernel.js'

/**
 * Opens compiled code once for each arena.
 *
 * @param open  given the first byte of the zone
 * @returns what was opened for an arena; undefined where this thread has no zone in it, or the
 *   processor lacks instructions
 */
export function inZones<Opened>(
  wasmUrl: URL,
  open: (module: WebAssembly.Module, memory: WebAssembly.Memory, start: number) => Opened,
): (arena: Arena) => Opened | undefined {
  const opened = new WeakMap<WebAssembly.Memory, Opened>()
  /** Undefined until it is first needed, null where it cannot be had. */
  let compiled: WebAssembly.Module | null | undefined
  const openIn = (arena: Arena): Opened | undefined => {
    if (compiled === undefined) compiled = compileKernel(wasmUrl)
    if (compiled === null) return undefined
    const start = zoneOf(arena)
    // Asked for again the next time: the thread that this one replaces may not have ended yet.
    if (start === undefined) return undefined
    const fresh = open(compiled, arena.memory, start)
    opened.set(arena.memory, fresh)
    return fresh
  }
  return (arena) => opened.get(arena.memory) ?? openIn(arena)
}
