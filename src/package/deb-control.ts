/**
 * What dpkg reads of a package before it unpacks it: needs, sums of files, and the scripts that it runs.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FORMAT_VERSION } from '../snapshot/format/container.js'
import { FORMATS } from '../store/tables.js'
import type { Architecture } from './architecture.js'
import { CONFIGURATION_FILES, PACKAGE_FOLDER } from './deb-root.js'
import { filesBelow } from './files-below.js'
import { fillTemplate } from './template.js'

/** As Debian names the kinds of machines. */
export const DEBIAN_ARCHITECTURES: Readonly<Record<Architecture, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
}

/** In the order in which dpkg runs them at an installation, and then at a removal. */
export const SCRIPTS: readonly string[] = ['preinst', 'postinst', 'prerm', 'postrm']

/** Of Hickory, as dpkg compares versions: 1.0.0-rc.1 comes before 1.0.0. */
export function debianVersion(version: string): string {
  return version.replace('-', '~')
}

/** Puts the files of the control member into the folder `into`, for the files below `files`. */
export async function writeControl(
  root: string,
  files: string,
  into: string,
  { arch, version }: { readonly arch: Architecture; readonly version: string },
): Promise<void> {
  await mkdir(into)
  const sums = await md5Sums(files)
  await writeFile(join(into, 'md5sums'), sums)
  await writeFile(join(into, 'conffiles'), CONFIGURATION_FILES.map((path) => `/${path}\n`).join(''))
  await writeFile(join(into, 'control'), controlText(arch, version, await kibibytesBelow(files)))
  const words = {
    VERSION: version,
    // Another build of one version has a folder of its own, too.
    RELEASE: `${version}-${createHash('sha256').update(treeSums(sums)).digest('hex').slice(0, 8)}`,
    SNAPSHOT_FORMAT: String(FORMAT_VERSION),
    STORE_FORMAT: String(Math.max(...FORMATS.map(Number))),
  }
  for (const script of SCRIPTS) {
    const text = await fillTemplate(join(root, `data/system/debian/${script}.sh`), words)
    await writeFile(join(into, script), text)
  }
}

/**
 * The C libraries must be there before anything is unpacked: an upgrade of Hickory on a system that is too old
 * changes nothing then.
 */
function controlText(arch: Architecture, version: string, kibibytes: number): string {
  return `Package: hickory
Version: ${debianVersion(version)}
Architecture: ${DEBIAN_ARCHITECTURES[arch]}
Maintainer: The maintainers of Hickory <maintainers@hickory.invalid>
Installed-Size: ${kibibytes}
Pre-Depends: libc6 (>= 2.34), libstdc++6 (>= 11)
Depends: init-system-helpers (>= 1.54), passwd
Section: net
Priority: optional
Description: who is inside this shape, exactly, now
 Selects the recipients of alerts inside drawn shapes, from memory: polygons,
 circles and corridors, in GeoJSON and Esri JSON, counted and listed exactly.
 .
 It holds Node.js and all libraries. The service is not started before
 recipients are imported.
`
}

/** As `md5sum` writes them, by which \`dpkg --verify\` finds files that were changed. */
async function md5Sums(files: string): Promise<string> {
  const lines: string[] = []
  for (const path of await filesBelow(files)) {
    if (CONFIGURATION_FILES.includes(path)) continue
    if (!(await lstat(join(files, path))).isFile()) continue
    const sum = createHash('md5').update(await readFile(join(files, path)))
    lines.push(`${sum.digest('hex')}  ${path}\n`)
  }
  return lines.join('')
}

function treeSums(sums: string): string {
  const lines = sums.split('\n')
  return lines.filter((line) => line.includes(`  ${PACKAGE_FOLDER}/`)).join('\n')
}

/** Each file takes whole ones. */
async function kibibytesBelow(files: string): Promise<number> {
  const sizes = (await filesBelow(files)).map((path) => lstat(join(files, path)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + Math.ceil(size / 1024), 0)
}
