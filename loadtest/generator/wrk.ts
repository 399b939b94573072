/**
 * Drives a server with wrk, from one thread: a generator that takes much less of the machine than one in
 * Node.js. It does not compare answers.
 *
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool } from '../harness/processes.js'
import { type ProcessorUse, processorUse, readProcessor } from '../harness/processor-time.js'

export interface WrkPlan {
  readonly url: string
  /** The process of the server, to read its processor time. */
  readonly pid: number
  /** Sent one after the other, and again from the first. */
  readonly bodies: readonly string[]
  /** The header Authorization; none unless given. */
  readonly authorization?: string
  readonly connectionCount: number
  /** For which a connection waits after each answer, on average; distributed exponentially. Default 0. */
  readonly thinkMs?: number
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly signal: AbortSignal
}

export interface WrkFigures {
  /** Right statuses alone. */
  readonly perSecond: number
  /** Of right statuses, if each fault came faster than all of them; else too long. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Of other statuses, if they came faster than all right ones; else too short. 0 where there are none. */
  readonly faultP50Ms: number
  readonly faultP99Ms: number
  readonly answeredCount: number
  /** Answers other than 2xx and 3xx, and requests without an answer. */
  readonly failedCount: number
  /** Undefined where the system does not say it. */
  readonly processor: ProcessorUse | undefined
}

/** @throws Error  that says what to install when there is no wrk */
export async function driveByWrk(plan: WrkPlan): Promise<WrkFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'hickory-loadtest-wrk-'))
  try {
    const [scriptPath, bodiesPath] = [join(directory, 'ask.lua'), join(directory, 'bodies')]
    await writeFile(scriptPath, SCRIPT)
    // The text of JSON.stringify has no line ends.
    await writeFile(bodiesPath, plan.bodies.map((body) => `${body}\n`).join(''))
    const run = (seconds: number) => runWrk(plan, seconds, scriptPath, bodiesPath)
    await run(plan.warmUpSeconds)
    const before = readProcessor(plan.pid)
    const figures = await run(plan.seconds)
    const after = readProcessor(plan.pid)
    const processor = before && after && processorUse(before, after, figures.answeredCount)
    return { ...figures, processor }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function runWrk(
  { url, authorization = '', connectionCount, thinkMs = 0, signal }: WrkPlan,
  seconds: number,
  scriptPath: string,
  bodiesPath: string,
): Promise<Omit<WrkFigures, 'processor'>> {
  const shape = ['-t1', `-c${connectionCount}`, `-d${seconds}s`, '--timeout', '10s']
  try {
    const output = await runTool(
      'wrk',
      [
        ...shape,
        '-s',
        scriptPath,
        `${url}/api/recipients`,
        '--',
        bodiesPath,
        String(thinkMs),
        authorization,
      ],
      signal,
    )
    return readFigures(output)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error('wrk is not installed: install the Debian package wrk', { cause: error })
  }
}

/** The last line is that of the script. */
function readFigures(output: string): Omit<WrkFigures, 'processor'> {
  const line = output.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith(MARK)) throw new Error(`wrk printed no figures:\n${output}`)
  const [answered, refused, micros, p50, p99, faultP50, faultP99, max, lost] = line
    .slice(MARK.length)
    .split(' ')
    .map(Number)
  return {
    perSecond: (answered - refused) / (micros / 1e6),
    p50Ms: p50 / 1_000,
    p99Ms: p99 / 1_000,
    maxMs: max / 1_000,
    faultP50Ms: refused === 0 ? 0 : faultP50 / 1_000,
    faultP99Ms: refused === 0 ? 0 : faultP99 / 1_000,
    answeredCount: answered,
    failedCount: refused + lost,
  }
}

const MARK = 'figures '

/**
 * Requests are written once, so that sending them costs the generator little. wrk tells latencies of all
 * answers together, so that those of right ones are looked for behind the share of the others.
 */
const SCRIPT = `local requests = {}
local at = 0
local think = 0

function init(args)
  local headers = { ["Content-Type"] = "application/json" }
  if args[3] and args[3] ~= "" then headers["Authorization"] = args[3] end
  for body in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
  think = tonumber(args[2])
  if think == 0 then delay = nil end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function delay()
  return math.floor(-think * math.log(1 - math.random()))
end

function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  local faults = 100 * errors.status / summary.requests
  local function right(share) return latency:percentile(faults + (100 - faults) * share) end
  local function fault(share) return latency:percentile(faults * share) end
  io.write(string.format("${MARK}%d %d %d %d %d %d %d %d %d\\n", summary.requests, errors.status,
    summary.duration, right(0.5), right(0.99), fault(0.5), fault(0.99), latency.max, lost))
end
`
