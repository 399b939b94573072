/**
 * The system calls of an import that change something below a directory, by what strace wrote.
 *
 * @module
 */

/** A call and which one of its kind it is: what an injection is aimed at. */
export interface Call {
  readonly syscall: string
  /** Below the directory that was looked at. */
  readonly path: string
  /** Among the calls of its thread of this name that touch the path, from 1. */
  readonly when: number
}

/** Calls that change files or directories; there may be none of most of them. */
export const CHANGING = [
  ...['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'copy_file_range', 'sendfile'],
  ...['fsync', 'fdatasync', 'sync_file_range', 'truncate', 'ftruncate', 'fallocate'],
  ...['open', 'openat', 'openat2', 'creat', 'mkdir', 'mkdirat', 'rmdir', 'unlink', 'unlinkat'],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat'],
  ...['chmod', 'fchmod', 'fchmodat', 'chown', 'fchown', 'fchownat', 'utimensat', 'utime'],
] as const

/** Calls that change nothing, but can fail. */
export const READING = ['read', 'pread64', 'readv', 'preadv', 'getdents64', 'statfs', 'close']

interface TracedCall {
  readonly thread: string
  readonly syscall: string
  readonly paths: readonly string[]
  readonly isChange: boolean
}

/**
 * Each call on something below `root`, in order, with its path below it.
 *
 * @param lines  of `strace -f -y -s 0`
 * @param isChanging  whether calls that open without creating are left out
 */
export function callsBelow(lines: readonly string[], root: string, isChanging: boolean): Call[] {
  const calls: Call[] = []
  const counts = new Map<string, number>()
  for (const { thread, syscall, paths, isChange } of lines.flatMap((line) => readLine(line))) {
    const touched = paths
      .filter((path) => path.startsWith(`${root}/`))
      .map((path) => path.slice(root.length + 1))
    // Every path of a call is counted, since an injection is aimed by any of them.
    for (const path of touched) {
      const key = `${thread} ${syscall} ${path}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const path = touched.at(-1)
    if (path === undefined || (isChanging && !isChange)) continue
    const when = counts.get(`${thread} ${syscall} ${path}`) ?? 0
    if (!calls.some((call) => sameCall(call, { syscall, path, when }))) {
      calls.push({ syscall, path, when })
    }
  }
  return calls
}

/** As many of them as asked for, evenly over the whole. */
export function spread<T>(values: readonly T[], count: number): T[] {
  if (values.length <= count) return [...values]
  return Array.from({ length: count }, (_, at) => values[Math.floor((at * values.length) / count)])
}

function readLine(line: string): TracedCall[] {
  const [, thread, syscall, rest] = /^([0-9]+) +([a-z0-9_]+)\((.*)$/.exec(line) ?? []
  if (thread === undefined) return []
  const [given] = rest.split(/\) += /)
  const named = [...given.matchAll(/"([^"]*)"|[0-9]+<([^>]*)>/g)]
    .map(([, text, file]) => text ?? file)
    .filter((path) => path.startsWith('/'))
  // An injection is aimed at a rename by the first of its paths only.
  const paths = syscall === 'rename' ? named.slice(0, 1) : named
  const isChange = !/^open/.test(syscall) || /O_CREAT|O_TRUNC/.test(given)
  return [{ thread, syscall, paths: [...new Set(paths)], isChange }]
}

function sameCall(one: Call, other: Call): boolean {
  return one.syscall === other.syscall && one.path === other.path && one.when === other.when
}
