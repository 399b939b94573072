import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type TS from 'typescript'
import { dist, testFiles } from '../runner/files.js'
import { ts } from '../support/typescript.js'
import { mutants } from './all.js'
import { isOfKernel, withFault } from './mutant.js'

const root = join(dist, '..')

t.test('every fault can be planted, and its file is read then', async (t) => {
  const wrong = mutants.flatMap((mutant) => {
    const text = readFileSync(join(root, mutant.file), 'utf8')
    const changed = withFault(mutant, text)
    if (changed === text) return [`"${mutant.name}" changes nothing`]
    // AssemblyScript has decorators of functions, which are no TypeScript.
    const faults = isOfKernel(mutant.file) ? [] : syntaxFaults(mutant.file, changed)
    return faults.map((fault) => `"${mutant.name}": ${fault}`)
  })
  t.same(wrong, [])
  t.ok(mutants.length >= 64)
})

t.test('faults have names of their own, and hints that are there', async (t) => {
  t.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length)
  const tests = new Set(testFiles())
  const hints = mutants.flatMap(({ hints = [] }) => hints)
  t.same(
    hints.filter((hint) => !tests.has(hint)),
    [],
  )
})

t.test('every folder of src has a fault', async (t) => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  const isWithout = (folder: string) =>
    mutants.every(({ file }) => !file.startsWith(`src/${folder}/`))
  t.same(folders.filter(isWithout), [])
})

t.test('a text that is not there once is no fault to plant', async (t) => {
  const mutant = { name: 'an example', file: 'src/example.ts', find: 'a', replace: 'b' }
  t.equal(withFault(mutant, 'cat'), 'cbt')
  t.throws(() => withFault(mutant, 'cut'), { message: /0 times in src\/example\.ts/ })
  t.throws(() => withFault(mutant, 'cat a'), { message: /2 times in src\/example\.ts/ })
})

/** The parser notes them, and its types do not say so; a whole program would take a second for each few files. */
function syntaxFaults(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  })
  const { parseDiagnostics } = source as unknown as { parseDiagnostics: readonly TS.Diagnostic[] }
  return parseDiagnostics.map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, ' '),
  )
}
