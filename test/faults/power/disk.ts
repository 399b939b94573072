/**
 * A disk that loses its power: an ext4 of its own, which keeps only what was synced.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from '../../support/service/hickory.js'

/** How data and the journal of ext4 are ordered; `commit` is in seconds, so that little is written by time alone. */
const MODES = ['data=ordered,commit=300', 'data=writeback,commit=300', 'data=ordered'] as const

export class Disk {
  /** Where it is mounted. */
  readonly path: string
  #image: string
  readonly #imageBytes: number
  #isMounted = false

  constructor(owner: Owner, directory: string, imageBytes = 256 << 20) {
    this.#imageBytes = imageBytes
    this.path = join(directory, 'disk')
    this.#image = join(directory, 'image')
    mkdirSync(this.path)
    owner.teardown(() => this.#unmount())
  }

  /** Makes it anew and empty. */
  format(mode: number): void {
    this.#unmount()
    rmSync(this.#image, { force: true })
    writeFileSync(this.#image, '')
    truncateSync(this.#image, this.#imageBytes)
    execFileSync('mkfs.ext4', ['-q', '-b', '4096', this.#image])
    this.mount(mode)
  }

  /** What was not synced until now never was there, and nothing can be written any more. */
  cutPower(): void {
    const script =
      'open F, "<", $ARGV[0] or die $!; ioctl F, $ARGV[1], pack("L", $ARGV[2]) or die $!'
    execFileSync('perl', ['-e', script, this.path, EXT4_IOC_SHUTDOWN, WITHOUT_FLUSH])
  }

  /**
   * To be called once no file of it is open. A process that got a mount namespace of its own meanwhile still has the mount, and
   * so the same image would be the same file system, without power.
   */
  mount(mode: number): void {
    this.#unmount()
    const copy = this.#image.endsWith('2') ? this.#image.slice(0, -1) : `${this.#image}2`
    execFileSync('cp', ['--sparse=always', this.#image, copy])
    rmSync(this.#image)
    this.#image = copy
    const options = `loop,${MODES[mode % MODES.length]}`
    execFileSync('mount', ['-o', options, this.#image, this.path])
    this.#isMounted = true
  }

  #unmount(): void {
    if (!this.#isMounted) return
    execFileSync('umount', [this.path])
    this.#isMounted = false
  }
}

/** `_IOR('X', 125, __u32)`, and its flag that leaves out the last flush of the journal. */
const EXT4_IOC_SHUTDOWN = String(0x8004587d)
const WITHOUT_FLUSH = '2'
