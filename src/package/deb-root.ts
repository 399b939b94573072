/**
 * Lays out what a Debian package puts on a machine: the tree, and beside it what the system looks for at places
 * of its own.
 *
 * @module
 */
import { copyFile, mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { runTool } from './run-tool.js'

/** The tree as dpkg knows it. Programs run in a folder of links to it, which the package's scripts make. */
export const PACKAGE_FOLDER = 'usr/lib/hickory/package'

/** Files that an operator changes, which dpkg therefore does not replace without a question. */
export const CONFIGURATION_FILES: readonly string[] = [
  'etc/hickory/hickory.json',
  'etc/logrotate.d/hickory',
]

/** Folders of the tree, and where the system looks for their files. */
const PLACES: Readonly<Record<string, string>> = {
  systemd: 'usr/lib/systemd/system',
  sysusers: 'usr/lib/sysusers.d',
  tmpfiles: 'usr/lib/tmpfiles.d',
  logrotate: 'etc/logrotate.d',
  'bash-completion/completions': 'usr/share/bash-completion/completions',
  // Debian's zsh looks there for what comes with packages.
  'zsh/site-functions': 'usr/share/zsh/vendor-completions',
}

const MANUAL = 'man/man1/hickory.1'

/** Moves `tree` below `into`, which is not there yet. */
export async function layOutDeb(root: string, tree: string, into: string): Promise<void> {
  const moved = join(into, PACKAGE_FOLDER)
  await mkdir(dirname(moved), { recursive: true })
  await rename(tree, moved)
  const share = join(moved, 'share')
  for (const [from, place] of Object.entries(PLACES)) {
    for (const name of await readdir(join(share, from))) {
      await placeFile(join(share, from, name), join(into, place, name))
    }
  }
  await placeFile(join(share, 'hickory.json'), join(into, 'etc/hickory/hickory.json'))
  const documents = join(into, 'usr/share/doc/hickory')
  await placeFile(join(root, 'data/system/debian/copyright'), join(documents, 'copyright'))
  await placePacked(join(root, 'CHANGELOG.md'), join(documents, 'changelog'))
  // The pages link to one another and to `share`, so they stay in one folder.
  await symlink(relative(documents, moved), join(documents, 'package'))
  await placePacked(join(share, MANUAL), join(into, 'usr/share', MANUAL))
  await mkdir(join(into, 'usr/bin'))
  await symlink('../lib/hickory/bin/hickory', join(into, 'usr/bin/hickory'))
}

async function placeFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await copyFile(from, to)
}

/** As Debian has documents that are read by its tools. */
async function placePacked(from: string, to: string): Promise<void> {
  await placeFile(from, to)
  await runTool('gzip', ['-9n', to], dirname(to))
}
