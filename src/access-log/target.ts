/**
 * The file, pipe or terminal of an access log. Nothing here waits: a pipe that is full takes nothing, and
 * one that nobody reads does not open.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from 'node:fs'

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants

export class LogTarget {
  readonly #name: string
  #fd: number | undefined

  /** @param name  a path, or `-` for standard output */
  constructor(name: string) {
    this.#name = name
  }

  /**
   * @returns how many bytes were taken
   * @throws  what the system says, `EAGAIN` for a pipe that is full
   */
  write(bytes: Uint8Array): number {
    return writeSync(this.open(), bytes)
  }

  /** @throws  what the system says, `ENXIO` for a pipe that nobody reads */
  open(): number {
    this.#fd ??= this.#open()
    return this.#fd
  }

  /** Whether another file has taken the place of this one, as logrotate does it. */
  isReplaced(): boolean {
    if (this.#fd === undefined || this.#name === '-') return false
    const now = statSync(this.#name, { throwIfNoEntry: false })
    const own = fstatSync(this.#fd)
    return now?.ino !== own.ino || now.dev !== own.dev
  }

  /** The next write opens it anew. */
  close(): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined && fd !== STANDARD_OUTPUT) closeSync(fd)
  }

  #open(): number {
    const flags = O_WRONLY | O_APPEND | (O_NONBLOCK ?? 0)
    if (this.#name !== '-') return openSync(this.#name, flags | O_CREAT, 0o600)
    try {
      // A description of its own, since others who have standard output may rely on that it waits.
      return openSync('/proc/self/fd/1', flags)
    } catch {
      // A socket, or a system without this directory: then only this thread waits for it.
      return STANDARD_OUTPUT
    }
  }
}

const STANDARD_OUTPUT = 1
