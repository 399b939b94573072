/**
 * Makes the tree that is installed: Node.js, the program with its libraries, and the files for the
 * system around it. The tarball and the Debian package hold the same tree.
 *
 * @module
 */
import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readVersion } from '../version.js'
import { type Architecture, MACHINES } from './architecture.js'
import { installDependencies } from './dependencies.js'
import { copyDocuments } from './documents.js'
import { writeManual } from './manual.js'
import { NODE, placeNode } from './node-binary.js'
import { normalize } from './normalize.js'
import { copyProgram } from './program.js'
import { sourceTimeS } from './source-time.js'
import { fillTemplate } from './template.js'

/** The checkout that this file was compiled in. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The oldest glibc that all binaries run with; a test reads them. */
const GLIBC = { major: 2, minor: 34 } as const

/** What nothing else in the tree may be: executable. */
export const EXECUTABLE: readonly string[] = ['bin/hickory', 'node/bin/node']

/** Folders of `data/system` that an operator takes from `share`. */
const SHARED_FOLDERS = [
  'systemd',
  'sysusers',
  'tmpfiles',
  'sysctl',
  'nftables',
  'logrotate',
  'proxy',
  'nats',
]

interface TreeOptions {
  readonly arch: Architecture
  /** A folder that is empty or not there, which becomes the root of the tree. */
  readonly into: string
  /** Where packages of Node.js are kept between runs. */
  readonly downloads: string
  /** Hears of each step before it begins. */
  readonly onStep: (step: string) => void
}

/** The tree has fixed modes and times; `VERSION` is for the packer to put last. */
export async function stageTree({ arch, into, downloads, onStep }: TreeOptions): Promise<void> {
  const version = readVersion()
  const timeS = await sourceTimeS(ROOT)
  onStep(`Node.js ${NODE.version} for ${arch}`)
  await placeNode(NODE, arch, join(into, 'node'), downloads)
  onStep(`libraries for ${arch}`)
  await mkdir(join(into, 'app'), { recursive: true })
  await installDependencies(ROOT, arch, join(into, 'app'))
  onStep('program')
  await copyProgram(ROOT, join(into, 'app'))
  await copyShared(join(into, 'share'))
  await copyDocuments(ROOT, into, 'share')
  await writeManual(ROOT, join(into, 'share'), timeS)
  await mkdir(join(into, 'bin'))
  await writeFile(join(into, 'bin/hickory'), await launcher(arch, version))
  const versions = `hickory ${version} linux-${arch}\nnode ${NODE.version}\n`
  await writeFile(join(into, 'VERSION'), versions)
  await normalize(into, EXECUTABLE, new Date(1000 * timeS))
}

async function copyShared(into: string): Promise<void> {
  await mkdir(into)
  for (const folder of SHARED_FOLDERS) {
    const source = join(ROOT, 'data/system', folder)
    await cp(source, join(into, folder), { recursive: true })
  }
  await copyFile(join(ROOT, 'data/system/hickory.json'), join(into, 'hickory.json'))
}

async function launcher(arch: Architecture, version: string): Promise<string> {
  const words = {
    ARCH: arch,
    VERSION: version,
    MACHINES: MACHINES[arch].join(' | '),
    GLIBC: `${GLIBC.major}.${GLIBC.minor}`,
    GLIBC_NUMBER: String(GLIBC.major * 1000 + GLIBC.minor),
  }
  return fillTemplate(join(ROOT, 'data/system/launcher.sh'), words)
}
