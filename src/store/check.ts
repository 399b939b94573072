/**
 * Checks a store before it is opened or copied. Reading a damaged one from mapped memory can end the process, so another
 * process does it first (verify.ts).
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { copyTables, DATA_FILE, FORMATS, storeDirectory, wereOpenedHere } from './tables.js'
import { NEWER_EXIT_CODE, SAME_ID_EXIT_CODE } from './verify.js'

/**
 * @throws OperatorError  DocumentInvalid, if the store cannot be read or is not as it was written; NewerFormat, if a later
 *   version wrote it; Failed, if LMDB would take this process for one of another container
 */
export async function checkStore(directory: string): Promise<void> {
  const { code, signal, problem } = await runCheck(directory)
  if (code === 0) return
  if (code === NEWER_EXIT_CODE) throw newer(directory, problem)
  if (code === SAME_ID_EXIT_CODE) throw sameId(directory, problem)
  if (code === null && !DAMAGE_SIGNALS.includes(signal)) {
    const bound = `within ${limits.storeCheckMs} ms`
    throw new OperatorError('Failed', `${directory} was not checked ${bound}, but ended: ${signal}`)
  }
  throw new OperatorError(
    'DocumentInvalid',
    `${directory}: the store is damaged (${problem || signal}); put a copy of it in its place, or move it away ` +
      'to begin a new one',
  )
}

/**
 * Checks a store and copies it, as it is at one moment while others change it.
 *
 * @param target  an empty directory
 * @returns the file of the copy; undefined if there is no store
 * @throws OperatorError  as `checkStore` does
 */
export async function copyStore(
  dataDirectory: string,
  target: string,
): Promise<string | undefined> {
  const directory = storeDirectory(dataDirectory)
  if (!existsSync(join(directory, DATA_FILE))) return undefined
  await checkStore(directory)
  await copyTables(directory, target)
  return join(target, DATA_FILE)
}

/**
 * To be called before anything of a data directory is opened in LMDB, by commands that do not begin with `checkStore`: the
 * reader would end this process if another container has a process of the same id.
 *
 * @throws OperatorError  Failed
 */
export async function assertOwnId(dataDirectory: string): Promise<void> {
  const directory = storeDirectory(dataDirectory)
  if (wereOpenedHere(directory) || !mayBeListed(directory)) return
  const { code, problem } = await runCheck(directory)
  if (code === SAME_ID_EXIT_CODE) throw sameId(directory, problem)
}

/** Whether the readers that LMDB lists may have the id of this process; only another process can tell for sure. */
function mayBeListed(directory: string): boolean {
  if (!existsSync(join(directory, DATA_FILE)) || !existsSync(join(directory, LOCK_FILE)))
    return false
  const list = readFileSync(join(directory, LOCK_FILE))
  for (let at = 0; at + 4 <= list.length; at += 4) {
    if (list.readUInt32LE(at) === process.pid) return true
  }
  return false
}

const LOCK_FILE = 'lock.mdb'

function newer(directory: string, format: string): OperatorError {
  return new OperatorError(
    'NewerFormat',
    `${directory}: found store format ${format}, expected ${FORMATS.join(', ')}, because a later version of ` +
      'Hickory wrote this store. Install that version again, or restore a backup that was made before with ' +
      '`hickory restore`',
  )
}

function sameId(directory: string, id: string): OperatorError {
  return new OperatorError(
    'Failed',
    `${directory} is open in another container, in a process that has the id ${id} there, as one has here: run this in ` +
      'that container (podman exec), or let the containers share their processes (--pid container:NAME, or ' +
      'shareProcessNamespace in a pod)',
  )
}

/** How a process ends that reads a damaged store. */
const DAMAGE_SIGNALS: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT']

interface Checked {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly problem: string
}

function runCheck(directory: string): Promise<Checked> {
  const program = fileURLToPath(new URL('../../workers/check-store.js', import.meta.url))
  // If this process has opened the store, its own id is listed.
  const ownId = wereOpenedHere(directory) ? [] : [String(process.pid)]
  const child = spawn(process.execPath, [program, directory, ...ownId], {
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
