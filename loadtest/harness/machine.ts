/**
 * What the figures were measured on.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, freemem, platform } from 'node:os'

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

/** Bytes that the system can give without swapping, which is more than what it says is free. */
export function availableMemory(): number {
  if (process.platform !== 'linux') return freemem()
  const line = /^MemAvailable:\s+([0-9]+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))
  return line === null ? freemem() : 1024 * Number(line[1])
}
