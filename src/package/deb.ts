/**
 * Makes the Debian package of a tree. The same tree gives the same bytes, on any machine and without the tools of
 * Debian.
 *
 * @module
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ArMember, writeAr } from './ar.js'
import type { Architecture } from './architecture.js'
import { DEBIAN_ARCHITECTURES, debianVersion, SCRIPTS, writeControl } from './deb-control.js'
import { layOutDeb, PACKAGE_FOLDER } from './deb-root.js'
import { normalize } from './normalize.js'
import { EXECUTABLE } from './stage-tree.js'
import { writeTarball } from './tarball.js'

interface DebOptions {
  /** The checkout. */
  readonly root: string
  /** The tree, which is moved away. */
  readonly tree: string
  readonly arch: Architecture
  readonly version: string
  /** Of all files, in seconds since 1970. */
  readonly timeS: number
  /** A folder on the disk of the tree that is not there yet. */
  readonly staging: string
  /** Called with the bytes of the files that are packed. */
  readonly onBytes: (byteCount: number) => void
}

/** @returns the path of the package, in `staging` */
export async function writeDeb(options: DebOptions): Promise<string> {
  const { root, tree, arch, version, timeS, staging, onBytes } = options
  const time = new Date(1000 * timeS)
  const files = join(staging, 'files')
  await mkdir(staging)
  await layOutDeb(root, tree, files)
  const executable = EXECUTABLE.map((path) => `${PACKAGE_FOLDER}/${path}`)
  await normalize(files, executable, time)
  const control = join(staging, 'control')
  await writeControl(root, files, control, { arch, version })
  await normalize(control, SCRIPTS, time)
  const members: ArMember[] = [{ name: 'debian-binary', content: { text: '2.0\n' } }]
  for (const [folder, name] of [
    [control, 'control.tar.gz'],
    [files, 'data.tar.gz'],
  ]) {
    const path = join(staging, name)
    await writeTarball(folder, '.', path, onBytes)
    await rm(folder, { recursive: true })
    members.push({ name, content: { path } })
  }
  const target = join(
    staging,
    `hickory_${debianVersion(version)}_${DEBIAN_ARCHITECTURES[arch]}.deb`,
  )
  await writeAr(target, members, timeS)
  return target
}
