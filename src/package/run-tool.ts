/**
 * Runs a program that packing needs, such as npm, and says which one failed and why.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'

/** @returns what the program wrote to standard output */
export async function runTool(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      cwd,
      maxBuffer: limits.toolOutputBytesMax,
    })
    return stdout
  } catch (error) {
    throw failureOf(program, args, error)
  }
}

function failureOf(program: string, args: readonly string[], error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('code' in error && error.code === 'ENOENT') {
    return new OperatorError('Failed', `${program} is needed to make packages, and is not there`)
  }
  // A tool writes why it failed at the end.
  const told = 'stderr' in error ? String(error.stderr).trim().split('\n').slice(-8).join('\n') : ''
  return new OperatorError('Failed', `${program} ${args.join(' ')} failed: ${told}`, {
    cause: error,
  })
}
