/**
 * A planted fault: one line of the program, changed as somebody might change it by mistake. The tests must
 * notice it.
 *
 * @module
 */
export interface Mutant {
  /** A sentence that says what is wrong then. */
  readonly name: string
  /** In the repository, such as `src/geometry/units.ts`. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Test files to be tried first; a wrong one costs time and nothing else. */
  readonly hints?: readonly string[]
}

/**
 * The text of the file with the fault in it.
 *
 * @throws Error  where the text to find is not there once
 */
export function withFault({ name, file, find, replace }: Mutant, text: string): string {
  const parts = text.split(find)
  if (parts.length !== 2) {
    throw new Error(`"${name}": the text to find is ${parts.length - 1} times in ${file}`)
  }
  return parts.join(replace)
}

/** AssemblyScript, of which a kernel of WebAssembly is compiled. */
export function isOfKernel(file: string): boolean {
  return file.includes('/wasm/')
}
