#!/usr/bin/env node
/**
 * The `hickory` command. Each sub-command is loaded only when it is called, or for its help.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { commands } from './commands/all.js'
import { endsWithCommand } from './commands/import/end-on-signal.js'
import { lowerPriority } from './commands/import/low-priority.js'
import { installationFault } from './commands/installation-fault.js'
import { errorTables } from './errors.js'
import { limits } from './limits.js'
import { unsupportedRelease } from './node-release.js'

// Node.js would open its debugger, by which every user of the machine gets at what the process holds.
process.on('SIGUSR1', () => {})
// A limit to the size of files is then an error of the write that meets it, as a full disk is.
process.on('SIGXFSZ', () => {})
// A service that starts or ends has nothing to read again.
if (process.argv[2] === 'serve') process.on('SIGHUP', () => {})
endsWithCommand()
goOnWithoutReader()

const problem = unsupportedRelease(process.versions.node)
if (problem === undefined) {
  let patienceMs: number | undefined
  const exitCode = await run((afterMs) => {
    patienceMs = afterMs
  })
  endOnSignalAfter(exitCode, patienceMs !== undefined)
  const areRead = await Promise.all([
    isRead(process.stdout, patienceMs),
    isRead(process.stderr, limits.logEndMs),
  ])
  // After a failure, threads that still run must not keep the process from its supervisor.
  if (exitCode !== 0 || areRead.includes(false)) process.exit(exitCode)
} else {
  process.stderr.write(`hickory: ${problem}\n`)
  process.exitCode = errorTables.operatorErrors.UnsupportedNode
}

/**
 * A pipe, a socket or a terminal (Ctrl-S) whose reader stands still would hold the process, and with it what answers
 * signals. Another program that shares it makes it one that waits again, as Node.js does when it ends.
 */
function goOnWithoutReader(): void {
  // Messages that find no reader, or no room on a disk, are no fault of the work.
  process.stderr.on('error', () => {})
  const streams = [process.stdout, process.stderr] as unknown as readonly Handled[]
  const doNotWait = () => {
    for (const { _handle } of streams) _handle?.setBlocking?.(false)
  }
  doNotWait()
  setInterval(doNotWait, limits.outputLookMs).unref()
}

interface Handled {
  readonly _handle?: { setBlocking?(isBlocking: boolean): void } | null
}

/** A command that is over waits for nothing but readers: a signal, which it may have passed over before, ends that. */
function endOnSignalAfter(exitCode: number, isDone: boolean): void {
  const hangUp = process.argv[2] === 'serve' ? [] : ['SIGHUP']
  for (const signal of ['SIGINT', 'SIGTERM', ...hangUp]) {
    process.removeAllListeners(signal)
    // That of the signal would say that the work was not done.
    if (isDone) process.on(signal, () => process.exit(exitCode))
  }
}

/** @param patienceMs  how long it may take; undefined for ever */
async function isRead(
  stream: NodeJS.WriteStream,
  patienceMs: number | undefined,
): Promise<boolean> {
  const read = new Promise<true>((resolve) => stream.write('', () => resolve(true)))
  if (patienceMs === undefined) return await read
  return await Promise.race([read, sleep(patienceMs, false, { ref: false })])
}

/** The program, if its libraries are there. */
async function run(endUnread: (afterMs: number) => void): Promise<number> {
  try {
    const { runCommandLine } = await import('./commands/command-line.js')
    const own = { lowerPriority, endUnread }
    return await runCommandLine(commands, process.argv.slice(2), own)
  } catch (error) {
    const fault = installationFault(error)
    if (fault === undefined) throw error
    process.stderr.write(`hickory: ${fault.message}\n`)
    return fault.exitCode
  }
}
