/**
 * Programs of clients, compiled as their authors would.
 *
 * @module
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/**
 * Compiles files that are nowhere on disk, in the place of this project.
 *
 * @param own  options of the program, where it is not as strict as it could be
 */
export function compile(
  sources: Readonly<Record<string, string>>,
  own: ts.CompilerOptions = {},
): {
  problems: string[]
  javascript: Record<string, string>
} {
  const options: ts.CompilerOptions = {
    strict: true,
    noImplicitOverride: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    ...own,
  }
  const host = ts.createCompilerHost(options)
  const files = new Map(Object.entries(sources).map(([name, code]) => [join(root, name), code]))
  const { directoryExists, fileExists, readFile, getSourceFile } = host
  const directories = new Set([...files.keys()].map(dirname))
  host.directoryExists = (path) => directories.has(path) || directoryExists?.(path) === true
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.readFile = (path) => files.get(path) ?? readFile(path)
  host.getSourceFile = (path, version, ...rest) => {
    const code = files.get(path)
    if (code === undefined) return getSourceFile(path, version, ...rest)
    return ts.createSourceFile(path, code, version)
  }
  const javascript: Record<string, string> = {}
  host.writeFile = (path, code) => {
    javascript[path.slice(root.length)] = code
  }
  const program = ts.createProgram([...files.keys()], options, host)
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
  program.emit()
  return { problems, javascript }
}

const root = fileURLToPath(new URL('../../../', import.meta.url))
