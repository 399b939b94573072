#!/usr/bin/env node
/**
 * The `hickory` command. Each sub-command is loaded only when it is called, or for its help.
 *
 * @module
 */
import { errorTables } from './errors.js'
import { unsupportedRelease } from './node-release.js'

const commands = {
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  import: async () => (await import('./commands/import.js')).importCommand,
  inspect: async () => (await import('./commands/inspect.js')).inspectCommand,
  verify: async () => (await import('./commands/verify.js')).verifyCommand,
  rollback: async () => (await import('./commands/rollback.js')).rollbackCommand,
  suppress: async () => (await import('./commands/suppress.js')).suppressCommand,
  generate: async () => (await import('./commands/generate.js')).generateCommand,
} as const

const problem = unsupportedRelease(process.versions.node)
if (problem === undefined) {
  const { runCommandLine } = await import('./commands/command-line.js')
  const exitCode = await runCommandLine(commands, process.argv.slice(2))
  // After a failure, threads that still run must not keep the process from its supervisor.
  if (exitCode !== 0) process.exit(exitCode)
} else {
  process.stderr.write(`hickory: ${problem}\n`)
  process.exitCode = errorTables.operatorErrors.UnsupportedNode
}
