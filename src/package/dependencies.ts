/**
 * Installs the libraries that production needs, for another machine than this one if need be.
 *
 * @module
 */
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Architecture } from './architecture.js'
import { prune } from './prune.js'
import { runTool } from './run-tool.js'

/** Puts `node_modules` into `into`, exactly as the lockfile has it, less what nothing reads. */
export async function installDependencies(
  root: string,
  arch: Architecture,
  into: string,
): Promise<void> {
  const staging = `${into}.npm`
  await mkdir(staging, { recursive: true })
  try {
    for (const file of ['package.json', 'package-lock.json']) {
      await copyFile(join(root, file), join(staging, file))
    }
    // No script runs: all binaries are in packages, and those are for a machine that this may not be.
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const target = ['--os=linux', `--cpu=${arch}`, '--libc=glibc']
    await runTool('npm', ['ci', '--omit=dev', ...quiet, ...target], staging)
    const modules = join(into, 'node_modules')
    await rename(join(staging, 'node_modules'), modules)
    await prune(modules, arch)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}
