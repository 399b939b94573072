/**
 * A data directory of its own that is imported into while it is served: two contents take turns,
 * and which answer is right follows from the snapshot that an answer names.
 *
 * @module
 */
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Polygon } from 'geojson'
import { readRows } from '../../test/oracle/counties.js'
import type { KnownRequest } from '../harness/answers.js'
import { cliPath } from '../harness/dataset.js'
import { runScript, type ServerProcess } from '../harness/processes.js'
import { askAndVerify } from '../harness/stage.js'
import type { Compare } from '../traffic/tally.js'
import type { Stage } from './scenario.js'
import { verifiedMix } from './verified.js'

export interface TwoContents {
  readonly service: ServerProcess
  readonly requests: readonly KnownRequest[]
  /** Answers whose snapshot is not known yet are kept, and taken for right until they are judged. */
  readonly compare: Compare
  /**
   * Imports the content that is not served.
   *
   * @returns from the end of the import to its being served; undefined when it is not
   */
  swap(): Promise<number | undefined>
  /** How many of the answers that were kept are wrong. */
  judgeKept(): number
  end(): Promise<void>
}

/** The whole, and half of it: every second row. */
type Content = 'whole' | 'half'

export async function serveTwoContents(
  stage: Stage,
  flags: readonly string[] = [],
): Promise<TwoContents> {
  const { dataset, signal } = stage
  if (stage.options.sourceCount > 1) throw new Error('only one source is swapped: omit --sources')
  const directory = await mkdtemp(join(tmpdir(), 'hickory-loadtest-swap-'))
  const end = () => rm(directory, { recursive: true, force: true })
  try {
    const dataDirectory = join(directory, 'data')
    const paths = { whole: dataset.csvPath, half: join(directory, 'half.csv') }
    await cp(dataset.dataDirectory, dataDirectory, { recursive: true })
    await writeHalf(paths.whole, paths.half)
    const publish = async (content: Content) => {
      const source = ['--data', dataDirectory, '--source', '1', '--max-shrink', '100%']
      await runScript([cliPath, 'import', ...source, paths[content]], signal)
      return (await readFile(join(dataDirectory, 'CURRENT'), 'utf8')).trim()
    }
    const halfId = await publish('half')
    const service = await stage.startService(flags, dataDirectory)
    const requests = verifiedMix(stage)
    const halfAnswers = await askHalf(service, requests, paths.half, signal)
    const judge = createJudge(requests, halfAnswers)
    judge.learn(halfId, 'half')
    let served: Content = 'half'
    return {
      service,
      requests,
      compare: judge.compare,
      judgeKept: judge.judgeKept,
      async swap() {
        served = served === 'half' ? 'whole' : 'half'
        const snapshotId = await publish(served)
        judge.learn(snapshotId, served)
        return untilServed(service, snapshotId, signal)
      },
      async end() {
        await service.stop()
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

const SERVED_MS = 30_000

async function writeHalf(wholePath: string, halfPath: string): Promise<void> {
  const output = createWriteStream(halfPath)
  let row = 0
  for await (const line of createInterface({ input: createReadStream(wholePath) })) {
    // The header is the first of them.
    if (row++ % 2 === 0 && !output.write(`${line}\n`)) await once(output, 'drain')
  }
  output.end()
  await once(output, 'finish')
}

/** Asked while nothing else goes on, and held against brute force. */
async function askHalf(
  service: ServerProcess,
  requests: readonly KnownRequest[],
  halfPath: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const unique = [...new Map(requests.map((request) => [request.body, request])).values()]
  const asked = unique.map(({ body }) => shapeOf(body))
  const shapesOf = (countsOnly: boolean) =>
    asked.filter((each) => each.countsOnly === countsOnly).map(({ shape }) => shape)
  const toCount = shapesOf(true)
  const listed = shapesOf(false)
  const rows = await readRows([halfPath])
  // Those that are listed come first, since they are verified; of the counts of all, some are asked.
  const shapes = [...listed, ...toCount]
  const known = await askAndVerify(service, rows, shapes, listed.length, signal)
  return new Map([...known.counts, ...known.lists].map(({ body, answer }) => [body, answer]))
}

function shapeOf(body: string): { shape: Polygon; countsOnly: boolean } {
  const { geoJSON, countsOnly } = JSON.parse(body) as {
    countsOnly: boolean
    geoJSON: { features: readonly { geometry: Polygon }[] }
  }
  return { shape: geoJSON.features[0].geometry, countsOnly }
}

function createJudge(requests: readonly KnownRequest[], halfAnswers: ReadonlyMap<string, string>) {
  const bytes = (text: string | undefined) => Buffer.from(text ?? '')
  const right = {
    whole: new Map(requests.map(({ body, answer }) => [body, bytes(answer)])),
    half: new Map(requests.map(({ body }) => [body, bytes(halfAnswers.get(body))])),
  }
  const contents = new Map<string, Content>()
  const kept: { snapshotId: string; body: string; answer: Buffer }[] = []
  const isRight = (content: Content, body: string, answer: Buffer) =>
    right[content].get(body)?.equals(answer) === true
  const compare: Compare = ({ body }, { answer }) => {
    const snapshotId = answer.headers['x-snapshot'] ?? ''
    const content = contents.get(snapshotId)
    if (content !== undefined) return isRight(content, body, answer.body)
    kept.push({ snapshotId, body, answer: answer.body })
    return true
  }
  const judgeKept = () => {
    const wrong = kept.filter(({ snapshotId, body, answer }) => {
      const content = contents.get(snapshotId)
      return content === undefined || !isRight(content, body, answer)
    })
    kept.length = 0
    return wrong.length
  }
  return { learn: contents.set.bind(contents), compare, judgeKept }
}

async function untilServed(
  { url, failure }: ServerProcess,
  snapshotId: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const startedMs = performance.now()
  for (;;) {
    const elapsedMs = performance.now() - startedMs
    const response = await fetch(`${url}/readyz`, { signal })
    const { snapshotId: served } = (await response.json()) as { snapshotId?: string }
    if (served === snapshotId) return elapsedMs
    if (elapsedMs > SERVED_MS) return undefined
    await Promise.race([sleep(50, undefined, { signal }), failure])
  }
}
