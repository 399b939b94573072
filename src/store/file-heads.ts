/**
 * The two heads of an LMDB file, its "meta pages". Commits write them in turn, and the later one says where all else
 * is. LMDB believes them: one wrong bit there can lead to what was before the last commit, or to an empty file, as it
 * is before the first one.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'

export interface Head {
  /** How many commits there were, which a copy goes on to count. */
  readonly commitCount: bigint
  readonly lastPage: bigint
}

interface Commit extends Head {
  /** Which commit wrote the page that it leads to, 1 in a copy; 0 where it leads to none, and -1 to a wrong one. */
  readonly writtenBy: bigint
}

/**
 * The head that LMDB goes by.
 *
 * @returns undefined when the two do not fit together; zeros for a file without a byte, which is yet to be begun
 */
export function readHead(path: string): Head | undefined {
  const fd = openSync(path, 'r')
  try {
    // Others may commit while it is read.
    for (let attempt = 0; attempt < 10; attempt++) {
      const first = readAt(fd, 0)
      if (first.length === 0) return { commitCount: 0n, lastPage: 0n }
      const head = first.length < HEAD_BYTES ? undefined : laterOf(fd, first)
      if (head !== undefined) return head
    }
    return undefined
  } finally {
    closeSync(fd)
  }
}

function laterOf(fd: number, first: Buffer): Head | undefined {
  const pageBytes = first.readUInt32LE(48)
  const second = readAt(fd, pageBytes)
  const isAlike = FIXED.every(([from, to]) =>
    first.subarray(from, to).equals(second.subarray(from, to)),
  )
  if (!isAlike || second.length < HEAD_BYTES) return undefined
  const [even, odd] = [first, second].map((page) => commitOf(fd, page, pageBytes))
  if (even.commitCount % 2n !== 0n) return undefined
  // Of a new file, and of a copy; the first commit is of both kinds.
  if (even.writtenBy === 0n && even.commitCount === 0n) {
    if (odd.writtenBy === 0n) return odd.commitCount === 0n ? even : undefined
    return odd.commitCount % 2n === 1n && odd.writtenBy === 1n ? odd : undefined
  }
  const [later, earlier] = even.commitCount > odd.commitCount ? [even, odd] : [odd, even]
  const isInTurn =
    later.commitCount === earlier.commitCount + 1n &&
    later.writtenBy === later.commitCount &&
    (earlier.writtenBy === earlier.commitCount || earlier.writtenBy === 1n)
  return isInTurn ? later : undefined
}

function commitOf(fd: number, head: Buffer, pageBytes: number): Commit {
  const root = head.readBigUInt64LE(136)
  const page = root === NO_PAGE ? undefined : readAt(fd, Number(root) * pageBytes)
  const isRight = page && page.length === HEAD_BYTES && page.readBigUInt64LE(0) === root
  return {
    lastPage: head.readBigUInt64LE(144),
    commitCount: head.readBigUInt64LE(152),
    writtenBy: page === undefined ? 0n : isRight ? page.readBigUInt64LE(8) : -1n,
  }
}

/** @returns fewer bytes than those of a head where the file ends before */
function readAt(fd: number, position: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES)
  if (position > Number.MAX_SAFE_INTEGER) return bytes.subarray(0, 0)
  return bytes.subarray(0, readSync(fd, bytes, 0, HEAD_BYTES, position))
}

/** With the header of its page, on a system of 64 bits. */
const HEAD_BYTES = 160
const NO_PAGE = 2n ** 64n - 1n
/** No commit changes the magic number, the version, the address, the bytes of a page, and the flags of the two trees. */
const FIXED: readonly (readonly [from: number, to: number])[] = [
  [24, 40],
  [48, 54],
  [96, 102],
]
