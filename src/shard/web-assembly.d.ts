/** The part of WebAssembly in use; the types of Node.js 20 leave it out. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true })
    readonly buffer: SharedArrayBuffer
    /** In pages; makes `buffer` another object, over the same bytes and more. */
    grow(pageCount: number): number
  }
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Record<string, unknown>
  }
  class CompileError extends Error {}
}
