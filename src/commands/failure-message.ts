/**
 * What a failure is for the operator: one line that says what is wrong, where, and what to do.
 *
 * @module
 */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors.js'
import { isRefusal, refusalText } from '../system-refusals.js'

export function messageOf(error: unknown): string {
  const advice = accessAdvice(error)
  if (error instanceof OperatorError) return error.message + (advice && `. ${advice}`)
  // What the system refuses has a cause outside of our code, so where we were says nothing.
  if (!isRefusal(error)) return (error instanceof Error && error.stack) || String(error)
  return refusalText(error) + (advice && `. ${advice}`)
}

/** Whose the file is that may not be used; empty where that is not what went wrong. */
function accessAdvice(error: unknown): string {
  const fault = isRefusal(error) ? error : (error as Error | undefined)?.cause
  if (!isRefusal(fault) || (fault.code !== 'EACCES' && fault.code !== 'EPERM')) return ''
  const self = process.getuid?.()
  const found = ownerOf(fault.path)
  if (self === undefined || found === undefined) return ''
  const { path, uid, mode } = found
  if (uid === self) return `${path} has mode ${mode}: allow yourself to use it (chmod u+rwX)`
  return (
    `${path} belongs to user ${uid}, and this is user ${self}: run the command as its owner ` +
    `(sudo -u '#${uid}'), or give the directory to this user`
  )
}

/** Of the file, or of the directory above it that lets itself be looked at. */
function ownerOf(path: string | undefined) {
  for (let at = path; at !== undefined; at = dirname(at) === at ? undefined : dirname(at)) {
    try {
      const { uid, mode } = statSync(at)
      return { path: at, uid, mode: (mode & 0o777).toString(8) }
    } catch {
      // The directory above tells.
    }
  }
  return undefined
}
