/**
 * What the figures were measured on.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { arch, availableParallelism, cpus, platform } from 'node:os'

export function machineLine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `${model}, ${availableParallelism()} cores, ${platform()} ${arch()}, node ${process.version}`
}

/** The commit of the work tree, with `-dirty` where it was changed; undefined outside of git. */
export function commitName(): string | undefined {
  const args = [
    '--no-optional-locks',
    'describe',
    '--always',
    '--dirty',
    '--abbrev=12',
    '--exclude=*',
  ]
  try {
    const cwd = import.meta.dirname
    return execFileSync('git', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return undefined
  }
}
