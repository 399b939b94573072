/**
 * The kinds of machine that there are packages for.
 *
 * @module
 */

/** As Node.js names them. */
export type Architecture = 'x64' | 'arm64'

export const ARCHITECTURES: readonly Architecture[] = ['x64', 'arm64']

/** What `uname -m` says on such a machine; the kernel names some of them in two ways. */
export const MACHINES: Readonly<Record<Architecture, readonly string[]>> = {
  x64: ['x86_64', 'amd64'],
  arm64: ['aarch64', 'arm64'],
}
