#!/usr/bin/env node
/**
 * The `hickory` command. Each sub-command is loaded only when it is called, or for its help.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
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
  const exitCode = await run()
  const printed = new Promise<void>((resolve) => process.stdout.write('', () => resolve()))
  if (exitCode !== 0) {
    await Promise.race([printed, sleep(limits.logEndMs)])
    // After a failure, threads that still run must not keep the process from its supervisor.
    process.exit(exitCode)
  }
  // What a command prints may wait for its reader, but messages beside it keep no process.
  await printed
  if (process.stderr.writableLength > 0) setTimeout(() => process.exit(), limits.logEndMs).unref()
} else {
  process.stderr.write(`hickory: ${problem}\n`)
  process.exitCode = errorTables.operatorErrors.UnsupportedNode
}

/** A terminal that stands still (Ctrl-S) would hold the process, and with it what answers signals. */
function goOnWithoutReader(): void {
  for (const [fd, name] of [
    [1, 'stdout'],
    [2, 'stderr'],
  ] as const) {
    if (!isatty(fd)) continue
    const stream: { _handle?: { setBlocking?(isBlocking: boolean): void } } = process[name] as never
    stream._handle?.setBlocking?.(false)
  }
}

/** The program, if its libraries are there. */
async function run(): Promise<number> {
  try {
    const { runCommandLine } = await import('./commands/command-line.js')
    return await runCommandLine(commands, process.argv.slice(2), { lowerPriority })
  } catch (error) {
    const fault = installationFault(error)
    if (fault === undefined) throw error
    process.stderr.write(`hickory: ${fault.message}\n`)
    return fault.exitCode
  }
}
