/**
 * What the process under test logs and how much memory it takes.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'

/** Faults in the lines that were logged since the last call. */
export function createLogWatch(output: () => { readonly stderr: string }): () => string[] {
  let checkedCharCount = 0
  return () => {
    const { stderr } = output()
    const end = stderr.lastIndexOf('\n') + 1
    const lines = stderr.slice(checkedCharCount, end).split('\n')
    checkedCharCount = end
    return lines.flatMap((line) => faultsOfLine(line))
  }
}

/** Resident memory; undefined where there is no /proc, or no such process any more. */
export function residentBytes(pid: number | undefined): number | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return undefined
  const kibibytes = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(status, 'utf8'))
  return kibibytes === null ? undefined : 1024 * Number(kibibytes[1])
}

const ERROR_LEVEL = 50

function faultsOfLine(line: string): string[] {
  if (line === '') return []
  const faults: string[] = []
  // All phones of recipients, and those of the requests, begin like this.
  if (/\+\s*999/.test(line)) faults.push('the log holds a number')
  if (/-?[0-9]{1,3}\.[0-9]{5,}/.test(line)) faults.push('the log holds a position')
  const level = levelOf(line)
  if (level === undefined) faults.push('the log holds a line that is not JSON')
  // Nothing of it can be quoted where it may hold what it must not.
  if (faults.length > 0) return faults
  return level !== undefined && level >= ERROR_LEVEL ? [`logged: ${line}`] : []
}

function levelOf(line: string): number | undefined {
  try {
    return (JSON.parse(line) as { level?: number }).level
  } catch {
    return undefined
  }
}
