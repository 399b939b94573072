/**
 * Imports of which a system call fails, and what must be true afterwards.
 *
 * @module
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorTables } from '../../src/errors.js'
import { type Call, CHANGING, callsBelow, READING } from './calls.js'
import { type Content, currentContent, leftovers } from './content.js'
import { importAgain } from './kill.js'
import { inPlace, type Place, placeFor, type Scenario } from './stage.js'
import { runDisturbed, traceImport } from './trace.js'

/** A call that does not do what it should. */
export interface Failure extends Call {
  readonly effect: string
  /** Whether the same happens at all later calls of this kind on this file. */
  readonly isLasting: boolean
}

/** Every way in which every call of a scenario's import may fail. */
export async function failuresOf(scenario: Scenario): Promise<Failure[]> {
  const place = placeFor(scenario)
  try {
    const lines = await traceImport(place.import, [...CHANGING, ...READING])
    return callsBelow(lines, place.directory, false).flatMap(failuresAt)
  } finally {
    place.remove()
  }
}

/** One failure of each kind of call, effect and file. */
export function ofEachKind(failures: readonly Failure[]): Failure[] {
  const kindOf = ({ syscall, effect, path }: Failure) =>
    `${syscall} ${effect} ${path.replace(/[0-9]+-[0-9a-f]+|[0-9]+/g, '#')}`
  const kinds = new Map(failures.map((failure) => [kindOf(failure), failure]))
  return [...kinds.values()]
}

/** Runs an import with a failure; returns what is wrong after that, if anything is. */
export async function failAt(scenario: Scenario, failure: Failure): Promise<string | undefined> {
  const { syscall, when, effect, path } = failure
  const what = `${effect} at ${syscall} ${when} of ${path}`
  return inPlace(scenario, what, async (place) => {
    const end = await runDisturbed(place.import, { ...failure, path: join(place.directory, path) })
    if (!end.isReached) throw new Error('the import made no such call')
    const content = await currentContent(place.data, scenario.expected)
    assertClean(end, content, scenario, place)
    const isRemoval = /^(unlink|rmdir|getdents)/.test(syscall)
    for (const left of leftovers(place.data, place.import.temporaryDirectory)) {
      // What cannot be removed stays; the next import removes it.
      const isCause = `${join(place.directory, path)}/`.startsWith(`${left}/`)
      if (!isCause || !(isRemoval || end.code === 0)) throw new Error(`it leaves ${left}`)
    }
    await importAgain(scenario, place)
  })
}

/** What a person or a script is told by an import, against what it did. */
export function assertClean(
  { code, stderr }: { readonly code: number | null; readonly stderr: string },
  content: Content | undefined,
  { base, expected }: Scenario,
  { data }: Pick<Place, 'data'>,
): void {
  const isNew = content === expected.after
  if (code === 0) {
    if (!isNew) throw new Error('it ended with 0, and what it made is not current')
    return
  }
  const codes: readonly (number | null)[] = Object.values(errorTables.operatorErrors)
  if (!codes.includes(code)) throw new Error(`it ended with ${code}: ${stderr}`)
  const messages = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  if (messages.length !== 1 || !/^hickory: /.test(messages[0])) {
    throw new Error(`it does not say what is wrong in one line: ${stderr}`)
  }
  if (!TOLD.test(messages[0])) {
    throw new Error(`it does not say what has happened: ${messages[0]}`)
  }
  if (isNew !== /is current, but/.test(messages[0])) {
    throw new Error(`it says, and ${isNew ? 'the new' : 'the old'} one is current: ${messages[0]}`)
  }
  if (!isNew && namesIn(data).join() !== namesIn(base).join()) {
    throw new Error(`it has failed, and there are ${namesIn(data).join()}`)
  }
}

function failuresAt(call: Call): Failure[] {
  return effects
    .filter(({ syscall }) => syscall.test(call.syscall))
    .map(({ effect, isLasting = false }) => ({ ...call, effect, isLasting }))
}

const effects: readonly { syscall: RegExp; effect: string; isLasting?: true }[] = [
  { syscall: /^p?write/, effect: 'error=ENOSPC', isLasting: true },
  { syscall: /^p?write/, effect: 'error=EIO' },
  // The system says that it took 10 bytes, and has taken none: as from a disk that loses them.
  { syscall: /^p?write/, effect: 'retval=10' },
  { syscall: /^(copy_file_range|sendfile)$/, effect: 'error=ENOSPC', isLasting: true },
  { syscall: /^(copy_file_range|sendfile)$/, effect: 'error=EIO' },
  { syscall: /sync/, effect: 'error=EIO' },
  { syscall: /^rename/, effect: 'error=EIO' },
  { syscall: /^rename/, effect: 'error=EACCES' },
  { syscall: /^(open|creat)/, effect: 'error=EMFILE' },
  { syscall: /^(open|creat)/, effect: 'error=EACCES' },
  { syscall: /^mkdir/, effect: 'error=EACCES' },
  { syscall: /^mkdir/, effect: 'error=ENOSPC' },
  { syscall: /^link/, effect: 'error=EMLINK' },
  { syscall: /^(unlink|rmdir)/, effect: 'error=EIO' },
  { syscall: /^(chmod|fchmod|utime|utimensat)/, effect: 'error=EIO' },
  { syscall: /^(p?read|getdents|statfs|close)/, effect: 'error=EIO' },
]

function namesIn(data: string): string[] {
  const snapshots = join(data, 'snapshots')
  return existsSync(snapshots) ? readdirSync(snapshots).sort() : []
}

/** The code of the system, the words that stand for it, or what was found in the place of a file. */
const TOLD =
  /\bE[A-Z]{2,}\b|may not be (read|used) by|the disk (is full|fails)|quota|longer than a file may be|too many files|does not exist|found|is current, but/
