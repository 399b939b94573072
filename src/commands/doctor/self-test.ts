/**
 * `hickory doctor --self-test`: imports made-up recipients, serves them, and compares answers with brute force, all
 * by the commands that a user calls, in a directory that is gone afterwards.
 *
 * @module
 */
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../limits.js'
import { removeOnExit } from '../../snapshot/publish/remove-on-exit.js'
import { endOnSignal } from '../import/end-on-signal.js'
import { type Ask, answerChecks, WRONG } from './answer-checks.js'
import type { AnsweredSource } from './brute-force.js'
import { type Check, type Finding, failed, ok, type Result } from './check.js'
import { type Program, startProgram } from './program.js'
import { csvOf, type MadeUpSource, madeUpSources } from './sample.js'

/** Without an import or a service there are no checks of answers. */
export async function selfTest(): Promise<Result[]> {
  const signals = endOnSignal('the self-test is not over')
  const directory = mkdtempSync(join(tmpdir(), 'hickory-self-test-'))
  const removal = removeOnExit(directory, false)
  const results: Result[] = []
  const passes = async (check: Check) => {
    const result = await timed(check)
    results.push(result)
    return result.state === 'ok'
  }
  let sources: readonly MadeUpSource[] = []
  let service: Service | undefined
  try {
    const isPrepared =
      (await passes({
        name: 'sample',
        look() {
          sources = madeUpSources()
          return ok(`made up ${sources.map(sampleText).join(' and ')}`)
        },
      })) &&
      (await passes({ name: 'import', look: () => importInto(directory, sources) })) &&
      (await passes({
        name: 'service',
        async look() {
          service = startService(directory)
          return await lookAtStart(service)
        },
      }))
    if (!isPrepared || service === undefined) return results
    const { ask, program } = service
    for (const check of answerChecks(sources, ask)) await passes(check)
    await passes({ name: 'stop', look: () => lookAtStop(program) })
    return results
  } finally {
    await service?.end()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    removal.forget()
    signals.forget()
  }
}

const BROKEN =
  'see what it says; make room in the directory for temporary files (TMPDIR), or install again'

function sampleText({ recipients, seed }: MadeUpSource): string {
  return `${recipients.length} recipients (seed ${seed})`
}

async function importInto(directory: string, sources: readonly MadeUpSource[]): Promise<Finding> {
  const list = sources.map(({ id, label }) => ({ id, label, files: [`${id}.csv`] }))
  for (const source of sources) await writeFile(join(directory, `${source.id}.csv`), csvOf(source))
  const listPath = join(directory, 'sources.json')
  await writeFile(listPath, JSON.stringify({ sources: list }))
  const data = dataDirectory(directory)
  const { ended } = startProgram('import', '--data', data, '--all', listPath, '--json')
  const { code, stdout, text } = await ended
  if (code !== 0) return failed(`the import ${text}`, BROKEN)
  const report: ImportReport = JSON.parse(stdout)
  const accepted = report.sources.map(({ acceptedCount }) => acceptedCount).join(' and ')
  const made = sources.map(({ recipients }) => recipients.length).join(' and ')
  if (accepted !== made) return failed(`${accepted} rows of ${made} were accepted`, WRONG)
  return ok(`${accepted} rows of CSV are in a verified snapshot`)
}

interface ImportReport {
  readonly sources: readonly { readonly acceptedCount: number }[]
}

interface Service {
  readonly program: Program
  readonly ready: Promise<string | undefined>
  readonly ask: Ask
  end(): Promise<void>
}

/** Few threads start soonest: these take 2.3 s of processor time, and those that two cores have otherwise 3.9 s. */
function startService(directory: string): Service {
  const threads = ['--http-threads', '1', '--query-threads', '2']
  const data = dataDirectory(directory)
  const program = startProgram('serve', '--data', data, '--port', '0', ...threads)
  const ready = program.lineWith('"msg":"ready"')
  return {
    program,
    ready,
    async ask(request) {
      const { port } = JSON.parse((await ready) ?? '{}') as { port?: number }
      const answer = await fetch(`http://127.0.0.1:${port}/api/recipients`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(limits.selfTestMs),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`the service answered ${answer.status}: ${text}`)
      return (JSON.parse(text) as { SourceRecords: readonly AnsweredSource[] }).SourceRecords
    },
    async end() {
      program.stop()
      await program.ended
    },
  }
}

async function lookAtStart({ program, ready }: Service): Promise<Finding> {
  const line = await ready
  if (line === undefined) return failed(`the service ${(await program.ended).text}`, BROKEN)
  const { port, httpEngine } = JSON.parse(line) as { port: number; httpEngine: string }
  return ok(`answers at http://127.0.0.1:${port} (HTTP engine ${httpEngine})`)
}

async function lookAtStop(program: Program): Promise<Finding> {
  program.stop()
  const { code, text } = await program.ended
  // Windows has no signal that asks a process to end.
  if (code === 0 || process.platform === 'win32') return ok('the service ended when it was told to')
  return failed(`the service ${text}`, BROKEN)
}

function dataDirectory(directory: string): string {
  return join(directory, 'data')
}

async function timed({ name, look }: Check): Promise<Result> {
  const startedMs = performance.now()
  const finding = await findingOf(look)
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(2)
  return { name, ...finding, found: `${finding.found}, in ${seconds} s` }
}

async function findingOf(look: Check['look']): Promise<Finding> {
  try {
    return await look()
  } catch (fault) {
    const { message, cause } = fault as Error
    return failed(cause instanceof Error ? `${message} (${cause.message})` : message, BROKEN)
  }
}
