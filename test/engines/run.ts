/**
 * Runs the tests that speak HTTP by every engine, on releases of Node.js that are downloaded, and ends with
 * one line that counts all of it.
 *
 *   npm run test:engines -- [--all] [--only 24-node,26-node] [FOLDER | FILE]...
 *
 * `--all` takes the tests of the long tier as well.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Choice, chooseFiles, dist } from '../runner/files.js'
import { importGraph, reaching } from '../runner/imports.js'
import { folderOfNode } from './releases.js'

/** The addon has binaries for 22 alone of these releases. */
const RUNS = ['22-uws', '22-node', '24-node', '26-node']

/** Whatever starts a service, or loads an engine into its own process. */
const SPEAKING = ['test/support/service/hickory.ts', 'src/http/engine/choose.ts']

/** They make packages, which hold a Node.js of their own. */
const OTHER_NODE = /^test\/package\//

interface Ended {
  readonly run: string
  readonly passedCount: number
  readonly failedCount: number
  readonly seconds: number
}

const TESTS = fileURLToPath(new URL('../run.js', import.meta.url))

try {
  const { values, positionals } = parseArgs({
    options: { all: { type: 'boolean', default: false }, only: { type: 'string' } },
    allowPositionals: true,
  })
  const runs = values.only?.split(',') ?? RUNS
  const unknown = runs.find((run) => !RUNS.includes(run))
  if (unknown !== undefined) throw new Error(`"${unknown}" is none of ${RUNS.join(', ')}`)
  const files = filesThatSpeak(values.all, positionals)
  const ended: Ended[] = []
  for (const run of runs) ended.push(await runTests(run, values.all, files))
  process.exitCode = tell(ended)
} catch (error) {
  process.stderr.write(`test:engines: ${(error as Error).message}\n`)
  process.stdout.write('0 passed, 0 failed\n')
  process.exitCode = 1
}

function filesThatSpeak(isLong: boolean, asked: readonly string[]): readonly string[] {
  const { files }: Choice = chooseFiles(isLong ? 'all' : 'short', asked)
  const speaking = reaching(importGraph(dist), SPEAKING)
  const found = files.filter((file) => speaking.has(file) && !OTHER_NODE.test(file))
  if (found.length === 0) throw new Error(`none of ${asked.join(' ')} speaks HTTP`)
  return found
}

async function runTests(run: string, isLong: boolean, files: readonly string[]): Promise<Ended> {
  const [major, engine] = run.split('-') as [string, string]
  const folder = await folderOfNode(major)
  say(`\n${run}: ${files.length} files`)
  const startedMs = performance.now()
  const child = spawn('node', [TESTS, ...(isLong ? ['--all'] : []), ...files], {
    env: {
      ...process.env,
      PATH: `${folder}${delimiter}${process.env.PATH}`,
      HICKORY_HTTP_ENGINE: engine,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  let counts: RegExpExecArray | null = null
  for await (const line of createInterface(child.stdout)) {
    counts = /^(\d+) passed, (\d+) failed$/.exec(line) ?? counts
    say(line)
  }
  const code = await exited
  const failedCount = Number(counts?.[2] ?? 0)
  return {
    run,
    passedCount: Number(counts?.[1] ?? 0),
    // One that ended badly without a count has failed, too.
    failedCount: code === 0 ? failedCount : Math.max(1, failedCount),
    seconds: (performance.now() - startedMs) / 1000,
  }
}

function tell(ended: readonly Ended[]): number {
  say('')
  for (const { run, passedCount, failedCount, seconds } of ended) {
    say(`${run}: ${passedCount} passed, ${failedCount} failed, ${seconds.toFixed(0)} s`)
  }
  const sum = (of: (ended: Ended) => number) => ended.reduce((all, one) => all + of(one), 0)
  const failedCount = sum((one) => one.failedCount)
  say(`\n${sum((one) => one.passedCount)} passed, ${failedCount} failed`)
  return failedCount === 0 ? 0 : 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
