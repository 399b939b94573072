/**
 * A copy of the compiled program and its tests outside the repository, in which faults are planted: of the
 * program that is tested, nothing changes.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { isOfKernel, type Mutant, withFault } from './mutant.js'

/** Of the files at the top of the repository, what is not copied; node_modules is linked. */
const LEFT_OUT = ['.git', 'node_modules', 'build', '.tap']

/** Data of whoever works here, of any size. */
const OWN_DATA = 'data/local'

export class WorkingCopy {
  readonly root: string
  readonly #compilerOptions: ts.CompilerOptions

  /** @param root  of the copy, which is not there yet */
  constructor(repository: string, root: string) {
    this.root = root
    mkdirSync(root, { recursive: true })
    for (const name of readdirSync(repository)) {
      if (LEFT_OUT.includes(name)) continue
      cpSync(join(repository, name), join(root, name), {
        recursive: true,
        // By their dates, build scripts tell what is old.
        preserveTimestamps: true,
        filter: (path) => path !== join(repository, OWN_DATA),
      })
    }
    symlinkSync(realpathSync(join(repository, 'node_modules')), join(root, 'node_modules'))
    this.#compilerOptions = compilerOptionsOf(root)
  }

  /**
   * Plants a fault, and returns what takes it out again.
   *
   * @throws Error  where the text to find is not there once, or what is compiled is not of this source
   */
  plant(mutant: Mutant): () => void {
    return isOfKernel(mutant.file) ? this.#plantInKernel(mutant) : this.#plantInModule(mutant)
  }

  /** Tests read sources as well, and a layout test is no proof: only what is compiled has the fault. */
  #plantInModule(mutant: Mutant): () => void {
    const source = readFileSync(join(this.root, mutant.file), 'utf8')
    const path = join(this.root, 'dist', mutant.file.replace(/\.ts$/, '.js'))
    const compiled = readFileSync(path, 'utf8')
    if (!isSameCode(this.#compile(source, mutant.file), compiled)) {
      throw new Error(`${mutant.file} is not what it was compiled of: npm run build`)
    }
    const changed = this.#compile(withFault(mutant, source), mutant.file)
    if (isSameCode(changed, compiled)) throw new Error(`"${mutant.name}" changes nothing`)
    const write = (text: string) => {
      writeFileSync(path, text)
      this.#build('bundle')
    }
    write(changed)
    return () => write(compiled)
  }

  #plantInKernel(mutant: Mutant): () => void {
    const path = join(this.root, mutant.file)
    const source = new Kept(path)
    const kernels = kernelsBelow(join(this.root, 'dist/src')).map((kernel) => new Kept(kernel))
    const restore = () => {
      source.restore()
      for (const kernel of kernels) kernel.restore()
    }
    writeFileSync(path, withFault(mutant, source.bytes.toString()))
    try {
      this.#build('kernels')
      if (kernels.every((kernel) => kernel.isAsKept())) {
        throw new Error(`"${mutant.name}" changes nothing`)
      }
    } catch (error) {
      restore()
      throw error
    }
    return restore
  }

  #build(what: string): void {
    execFileSync(process.execPath, [join(this.root, `src/build-${what}.mjs`)], { stdio: 'pipe' })
  }

  #compile(text: string, fileName: string): string {
    return ts.transpileModule(text, { fileName, compilerOptions: this.#compilerOptions }).outputText
  }
}

/** A file as it was, with its date. */
class Kept {
  readonly bytes: Buffer
  readonly #path: string
  readonly #changed: Date

  constructor(path: string) {
    this.#path = path
    this.bytes = readFileSync(path)
    this.#changed = statSync(path).mtime
  }

  isAsKept(): boolean {
    return readFileSync(this.#path).equals(this.bytes)
  }

  restore(): void {
    writeFileSync(this.#path, this.bytes)
    utimesSync(this.#path, this.#changed, this.#changed)
  }
}

function kernelsBelow(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.wasm')).map((name) => join(directory, name))
}

function compilerOptionsOf(root: string): ts.CompilerOptions {
  const path = join(root, 'tsconfig.json')
  const { config } = ts.readConfigFile(path, ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  // Of a single file the compiler does not see that its package is one of modules.
  const module = ts.ModuleKind.ESNext
  const moduleResolution = ts.ModuleResolutionKind.Bundler
  return { ...options, module, moduleResolution, sourceMap: false, incremental: false }
}

function isSameCode(one: string, other: string): boolean {
  const code = (text: string) => text.replace(/^\/\/# sourceMappingURL=.*$/m, '').trimEnd()
  return code(one) === code(other)
}
