/**
 * Checks a store before it is opened: to read a damaged one from mapped memory can end the process,
 * so it is another process that does it first.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { invalid } from './document-file.js'
import { FORMATS } from './tables.js'
import { NEWER_EXIT_CODE } from './verify.js'

/**
 * @throws OperatorError  DocumentInvalid, when it cannot be read or is not what was written; NewerFormat, when
 *   a later version wrote it, which is found out before anything is changed
 */
export async function checkStore(directory: string): Promise<void> {
  const { code, signal, problem } = await runCheck(directory)
  if (code === 0) return
  if (code === NEWER_EXIT_CODE) throw newer(directory, problem)
  if (code === null && !DAMAGE_SIGNALS.includes(signal)) {
    const bound = `within ${limits.storeCheckMs} ms`
    throw new OperatorError('Failed', `${directory} was not checked ${bound}, but ended: ${signal}`)
  }
  throw invalid(
    directory,
    `the store is damaged (${problem || signal}); put a copy of it in its place, or move it away ` +
      'to begin a new one',
  )
}

function newer(directory: string, format: string): OperatorError {
  return new OperatorError(
    'NewerFormat',
    `${directory}: found store format ${format}, expected ${FORMATS.join(', ')}, because a later version of ` +
      'Hickory wrote this store. Install that version again, or restore a backup that was made before with ' +
      '`hickory restore`',
  )
}

/** How a process ends that reads where nothing is. */
const DAMAGE_SIGNALS: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT']

interface Checked {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly problem: string
}

function runCheck(directory: string): Promise<Checked> {
  const program = fileURLToPath(new URL('../../workers/check-store.js', import.meta.url))
  const child = spawn(process.execPath, [program, directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: limits.storeCheckMs,
    killSignal: 'SIGKILL',
  })
  let problem = ''
  child.stdout.on('data', (chunk) => {
    problem += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, problem }))
  })
}
