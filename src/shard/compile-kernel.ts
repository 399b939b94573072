/**
 * Compiles code in WebAssembly that makes something faster and that nothing depends on.
 *
 * @module
 */
import { readFileSync } from 'node:fs'

/** @returns null on a processor without the instructions that the code needs */
export function compileKernel(wasmUrl: URL): WebAssembly.Module | null {
  const bytes = readFileSync(wasmUrl)
  try {
    return new WebAssembly.Module(bytes)
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) return null
    throw error
  }
}
