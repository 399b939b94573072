/**
 * The releases of Node.js that the tests of HTTP run on, beside the one of the machine.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ARCHITECTURES } from '../../src/package/architecture.js'
import { NODE, placeNode } from '../../src/package/node-binary.js'

type NodeRelease = Parameters<typeof placeNode>[0]

const RELEASES: readonly NodeRelease[] = [
  NODE,
  {
    version: '24.21.0',
    integrity: {
      x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
      arm64:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
  },
  {
    version: '26.10.0',
    integrity: {
      x64: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
      arm64:
        'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    },
  },
]

const DOWNLOADS = fileURLToPath(new URL('../../../build/downloads', import.meta.url))

/** The major releases, such as `22`. */
export const majors: readonly string[] = RELEASES.map(majorOf)

/**
 * A folder with `node`, for the front of PATH. It is downloaded once for a checkout.
 *
 * @param major  such as `22`
 * @throws Error  that says why there is none
 */
export async function folderOfNode(major: string): Promise<string> {
  const release = RELEASES.find((release) => majorOf(release) === major)
  if (release === undefined) throw new Error(`"${major}" is none of ${majors.join(', ')}`)
  const arch = ARCHITECTURES.find((arch) => arch === process.arch)
  if (process.platform !== 'linux' || arch === undefined) {
    throw new Error(`there is no Node.js to download for ${process.platform} on ${process.arch}`)
  }
  const folder = join(DOWNLOADS, `node-${release.version}-${arch}`)
  if (!existsSync(folder)) {
    await mkdir(DOWNLOADS, { recursive: true })
    // Renamed when it is whole.
    const part = await mkdtemp(`${folder}.part-`)
    try {
      await placeNode(release, arch, part, DOWNLOADS)
      // Tests start it as other users, too.
      await chmod(part, 0o755)
      await rename(part, folder)
    } finally {
      await rm(part, { recursive: true, force: true })
    }
  }
  return join(folder, 'bin')
}

function majorOf({ version }: NodeRelease): string {
  return version.split('.')[0] as string
}
