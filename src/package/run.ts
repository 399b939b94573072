/**
 * `npm run package`: makes the packages that an operator installs.
 *
 * @module
 */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../commands/failure-message.js'
import { OperatorError } from '../errors.js'
import { readVersion } from '../version.js'
import { ARCHITECTURES, type Architecture } from './architecture.js'
import { writeChecksums } from './checksums.js'
import { writeDeb } from './deb.js'
import { bytesBelow } from './files-below.js'
import { writeNpmPackage } from './npm-package.js'
import { sourceTimeS } from './source-time.js'
import { stageTree } from './stage-tree.js'
import { writeTarball } from './tarball.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const KINDS = ['tarball', 'deb', 'npm'] as const
type Kind = (typeof KINDS)[number]

interface Flags {
  readonly arch: readonly Architecture[]
  readonly only: readonly Kind[]
  readonly out: string
  readonly downloads: string
}

const command = new Command('npm run package --')
  .description(
    'Makes the packages of Hickory: tarballs and Debian packages with Node.js for Linux, and one for npm.',
  )
  .addOption(
    new Option('--arch <name>', 'machines to make packages for: x64, arm64 or all')
      .argParser(readArch)
      .default(ARCHITECTURES, 'all'),
  )
  .addOption(
    new Option('--only <kinds>', `what to make, with commas between: ${KINDS.join(', ')}`)
      .argParser(readKinds)
      .default(KINDS, 'everything'),
  )
  .option('--out <folder>', 'where the packages go', 'build/packages')
  .option('--downloads <folder>', 'where packages of Node.js are kept', 'build/downloads')
  .allowExcessArguments(false)
  .action(makePackages)

try {
  await command.parseAsync()
} catch (error) {
  process.stderr.write(`package: ${messageOf(error)}\n`)
  process.exitCode = error instanceof OperatorError ? error.exitCode : 1
}

function readArch(value: string): readonly Architecture[] {
  const chosen = ARCHITECTURES.filter((arch) => value === arch || value === 'all')
  if (chosen.length > 0) return chosen
  throw new InvalidArgumentError(`It is x64, arm64 or all.`)
}

function readKinds(value: string): readonly Kind[] {
  const names = value.split(',')
  const unknown = names.find((name) => !KINDS.some((kind) => kind === name))
  if (unknown === undefined) return KINDS.filter((kind) => names.includes(kind))
  throw new InvalidArgumentError(`"${unknown}" is none of ${KINDS.join(', ')}.`)
}

async function makePackages(flags: Flags): Promise<void> {
  const out = resolve(flags.out)
  const downloads = resolve(flags.downloads)
  for (const folder of [out, downloads]) await mkdir(folder, { recursive: true })
  // Beside the packages, since the temporary folder of a system may be small or in memory.
  const staging = await mkdtemp(join(out, '.staging-'))
  const interrupt = (signal: NodeJS.Signals) => {
    rmSync(staging, { recursive: true, force: true })
    say(`package: stopped by ${signal}`)
    process.exit(1)
  }
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const made: string[] = []
  try {
    if (flags.only.some((kind) => kind !== 'npm')) {
      for (const arch of flags.arch) made.push(...(await makeTrees(arch, staging, flags)))
    }
    if (flags.only.includes('npm')) {
      say('npm: program')
      made.push(await writeNpmPackage(ROOT, join(staging, 'npm'), readVersion(), out))
    }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  const sums = await writeChecksums(out)
  for (const name of made) {
    const { size } = await stat(join(out, name))
    process.stdout.write(`${sums.get(name)}  ${megabytes(size)}  ${join(flags.out, name)}\n`)
  }
}

/** The packages with Node.js. @returns the names of the files that are now in `out` */
async function makeTrees(arch: Architecture, staging: string, flags: Flags): Promise<string[]> {
  const version = readVersion()
  const name = `hickory-${version}-linux-${arch}`
  const tree = join(staging, name)
  const downloads = resolve(flags.downloads)
  await stageTree({ arch, into: tree, downloads, onStep: (step) => say(`tree: ${step}`) })
  const total = await bytesBelow(tree)
  const parts = ['node', 'app/node_modules', 'app/dist', 'app/data', 'share']
  for (const part of parts) say(`  ${megabytes(await bytesBelow(join(tree, part)))}  ${part}`)
  const files: string[] = []
  if (flags.only.includes('tarball')) {
    say(`tarball: packing ${megabytes(total)}`)
    const file = join(staging, `${name}.tar.gz`)
    await writeTarball(tree, name, file, progress('tarball', total))
    files.push(file)
  }
  if (flags.only.includes('deb')) {
    say(`deb: packing ${megabytes(total)}`)
    files.push(
      await writeDeb({
        root: ROOT,
        tree,
        arch,
        version,
        timeS: await sourceTimeS(ROOT),
        staging: join(staging, `deb-${arch}`),
        onBytes: progress('deb', total),
      }),
    )
  }
  for (const file of files) await rename(file, join(resolve(flags.out), basename(file)))
  await rm(tree, { recursive: true, force: true })
  return files.map((file) => basename(file))
}

/** A line for each fifth that is done. */
function progress(kind: string, total: number): (byteCount: number) => void {
  let done = 0
  let told = 0
  return (byteCount) => {
    done += byteCount
    const fifth = Math.floor((5 * done) / total)
    if (fifth === told) return
    told = fifth
    say(`${kind}: ${fifth * 20} % packed`)
  }
}

/** Progress goes to standard error; standard output has the packages alone. */
function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function megabytes(byteCount: number): string {
  return `${(byteCount / 1e6).toFixed(1)} MB`
}
