#!/usr/bin/env node
/**
 * The `hickory` command. Each sub-command is loaded only when it is called, or for its help.
 *
 * @module
 */
import { commands } from './commands/all.js'
import { lowerPriority } from './commands/import/low-priority.js'
import { installationFault } from './commands/installation-fault.js'
import { errorTables } from './errors.js'
import { unsupportedRelease } from './node-release.js'

const problem = unsupportedRelease(process.versions.node)
if (problem === undefined) {
  const exitCode = await run()
  // After a failure, threads that still run must not keep the process from its supervisor.
  if (exitCode !== 0) process.exit(exitCode)
} else {
  process.stderr.write(`hickory: ${problem}\n`)
  process.exitCode = errorTables.operatorErrors.UnsupportedNode
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
