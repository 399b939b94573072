/**
 * What a failure is for the operator: one line that says what is wrong, where, and what to do.
 *
 * @module
 */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors.js'

export function messageOf(error: unknown): string {
  const advice = accessAdvice(error)
  if (error instanceof OperatorError) return error.message + (advice && `. ${advice}`)
  // What the system refuses has a cause outside of our code, so where we were says nothing.
  if (!isRefusal(error)) return (error instanceof Error && error.stack) || String(error)
  const { code = '', path = '', message } = error
  const what = WORDS[code]
  return what === undefined ? message : `${path || 'a file'} ${what}${advice && `. ${advice}`}`
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'may not be used by this user',
  EPERM: 'may not be used by this user',
  ENOENT: 'does not exist',
  ENOTDIR: 'is no directory, or lies below a file',
  EISDIR: 'is a directory',
  EROFS: 'is on a disk that cannot be written: name another place',
  ENOSPC: 'cannot be written, since the disk is full: make room and try again',
  EDQUOT: 'cannot be written, since the quota of this user is used up: make room and try again',
  EMFILE: 'cannot be opened, since too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'cannot be opened, since too many files are open on this machine',
}

function isRefusal(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
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
