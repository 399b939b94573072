/**
 * What the system refuses, in the words of an operator: its own ("ENOTDIR: not a directory, stat 'x'") say
 * neither what is wrong with the file nor what to do.
 *
 * @module
 */

type Refusal = NodeJS.ErrnoException

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && 'syscall' in error
}

/** Behind the name of a file that is there to be read. */
export function whyUnread(error: unknown): string {
  const { code = '', message } = error as Refusal
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user'
  return WORDS[code] ?? `cannot be read: ${message}`
}

/** Behind the name of a file that is to be written. */
export function whyUnwritten(error: unknown): string {
  const { code = '', message } = error as Refusal
  if (code === 'ENOENT')
    return 'cannot be written: its directory does not exist. Name another place'
  return WORDS[code] ?? `cannot be written: ${message}`
}

/** With the name of the file, as far as the system tells it; the words of another error as they are. */
export function refusalText(error: unknown): string {
  const { code = '', path = '', message } = error as Refusal
  const what = isRefusal(error) ? WORDS[code] : undefined
  return what === undefined ? message : `${path || 'a file'} ${what}`
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'may not be used by this user',
  EPERM: 'may not be used by this user',
  ENOENT: 'does not exist: check its name and its directory',
  ENOTDIR: 'is no directory, or lies below a file: check its name',
  EISDIR: 'is a directory: name a file',
  EEXIST: 'is there already and is no directory: name another place',
  ELOOP: 'is a link that leads to itself: name the file',
  ENAMETOOLONG: 'is too long for a name: choose a shorter one',
  EROFS: 'is on a disk that cannot be written: name another place',
  ENOSPC: 'cannot be written, since the disk is full: make room and try again',
  EDQUOT: 'cannot be written, since the quota of this user is used up: make room and try again',
  EFBIG: 'would be longer than a file may be here: raise the limit (ulimit -f)',
  EIO: 'cannot be read or written: the disk fails',
  EMFILE: 'cannot be opened, since too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'cannot be opened, since too many files are open on this machine',
}
