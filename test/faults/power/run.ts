/**
 * A service and commands beside it whose disk loses its power at random moments: at the next start everything that was
 * acknowledged is there, and nothing needs a hand.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../support/random/world.js'
import { type Owner, temporaryDirectory } from '../../support/service/hickory.js'
import { ageLock } from '../content.js'
import {
  ask,
  begin,
  commands,
  type Kind,
  type Place,
  requests,
  settled,
  Unsettled,
} from './acknowledged.js'
import { Disk } from './disk.js'

const cli = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))

interface Tally {
  readonly faults: readonly string[]
  /** How often each thing was acknowledged, and how often power went while it was under way. */
  readonly acknowledgedCounts: Readonly<Record<string, number>>
  readonly cutCounts: Readonly<Record<string, number>>
}

/** @param onFault  is told what is wrong as soon as it is */
export async function losePower(
  owner: Owner,
  momentCount: number,
  random: Random,
  onFault: (fault: string) => void,
): Promise<Tally> {
  const world = new World(owner, random)
  owner.teardown(() => world.killAll())
  const faults: string[] = []
  for (let moment = 0; moment < momentCount; moment++) {
    try {
      if (moment % MOMENTS_OF_A_DISK === 0) await world.beginAnew()
      await world.workUntilCut()
      await world.startAgain()
      await world.check()
    } catch (fault) {
      faults.push(`moment ${moment}: ${(fault as Error).message}`)
      onFault(faults[faults.length - 1])
      await world.beginAnew()
    }
  }
  return { faults, ...world }
}

/** Then a new one, so that first starts are among them. */
const MOMENTS_OF_A_DISK = 4
/** A start takes about so long, and work goes on for up to so long. */
const START_MS = 2_000
const WORK_MS = 2_000
/** In a disk. Files and audiences have bounds. */
const ACTS_OF_A_KIND = 60

class World {
  readonly acknowledgedCounts: Record<string, number> = {}
  readonly cutCounts: Record<string, number> = {}
  readonly #random: Random
  readonly #disk: Disk
  readonly #inputs: string
  /** What each disk begins with. */
  readonly #template: string
  readonly #children = new Set<ChildProcess>()
  /** By the name of a kind. */
  #acknowledged: Record<string, number> = {}
  readonly #underWay = new Set<string>()
  #key = ''
  #url = ''
  #log = ''
  #isCut = false

  constructor(owner: Owner, random: Random) {
    const directory = temporaryDirectory(owner)
    this.#disk = new Disk(owner, directory)
    this.#inputs = join(directory, 'inputs')
    this.#template = join(directory, 'template')
    mkdirSync(this.#inputs)
    this.#random = random
  }

  get #place(): Place {
    const [data, beside] = [join(this.#disk.path, 'data'), join(this.#disk.path, 'beside')]
    return { url: this.#url, key: this.#key, data, beside, inputs: this.#inputs }
  }

  async beginAnew(): Promise<void> {
    await this.killAll()
    if (this.#key === '') this.#key = await begin(this.#template, this.#inputs)
    this.#disk.format(this.#random.between(0, 2))
    mkdirSync(this.#place.beside)
    cpSync(this.#template, this.#place.data, { recursive: true })
    this.#acknowledged = {}
    this.#underWay.clear()
    // All of it is on disk then.
    this.#disk.mount(this.#random.between(0, 2))
  }

  /** Power goes while the service starts, or while it and commands work. */
  async workUntilCut(): Promise<void> {
    this.#isCut = false
    const startsAnew = this.#url === '' || this.#random.unit() < 0.3
    const cutsStart = startsAnew && this.#random.unit() < 0.4
    if (startsAnew) await this.killAll()
    const ready = startsAnew ? this.#start() : Promise.resolve()
    const failed = ready.catch(() => {})
    if (!cutsStart) await ready
    const work = cutsStart ? [] : [this.#work(requests), this.#work(commands)]
    await sleep(this.#random.unit() * (cutsStart ? START_MS : WORK_MS))
    // What is acknowledged from now on may have been so before, or not.
    this.#isCut = true
    this.#disk.cutPower()
    await this.killAll()
    await Promise.all([failed, ...work])
  }

  async startAgain(): Promise<void> {
    this.#disk.mount(this.#random.between(0, 2))
    // A machine takes longer to start than a lock to go stale.
    ageLock(this.#place.data)
    ageLock(join(this.#place.data, 'areas'))
    await this.#start()
    const complaints = this.#log.split('\n').filter((line) => COMPLAINT.test(line))
    if (complaints.length > 0) throw new Error(`the service complains: ${complaints.join()}`)
  }

  async check(): Promise<void> {
    const place = this.#place
    const { areas } = (await settled(() => ask(place, '/readyz'))) as { areas?: unknown }
    if (areas !== undefined) throw new Error(`areas are refused: ${JSON.stringify(areas)}`)
    await settled(() => ask(place, '/api/areas/counties:48201'))
    for (const { name, read } of [...requests, ...commands]) {
      const least = this.#acknowledged[name] ?? 0
      const found = await settled(() => read(place, least))
      const most = least + (this.#underWay.delete(name) ? 1 : 0)
      if (found < least || found > most) {
        throw new Error(`${name}: ${found} is there, and ${least} was acknowledged`)
      }
      this.#acknowledged[name] = found
    }
  }

  async killAll(): Promise<void> {
    this.#url = ''
    await Promise.all(
      [...this.#children].map(async (child) => {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        if (child.exitCode === null && child.signalCode === null) await ended
      }),
    )
    this.#children.clear()
  }

  /** One act after the other. */
  async #work(kinds: readonly Kind[]): Promise<void> {
    while (!this.#isCut) {
      const { name, act } = this.#random.pick(kinds)
      const number = (this.#acknowledged[name] ?? 0) + 1
      if (number > ACTS_OF_A_KIND || this.#underWay.has(name)) {
        await sleep(10)
        continue
      }
      this.#underWay.add(name)
      const fault = await act(this.#place, number).catch((error: Error) => error)
      if (this.#isCut) count(this.cutCounts, name)
      else if (fault instanceof Unsettled) continue
      else if (fault !== undefined) throw fault
      else {
        this.#underWay.delete(name)
        this.#acknowledged[name] = number
        count(this.acknowledgedCounts, name)
      }
    }
  }

  async #start(): Promise<void> {
    const { data, beside } = this.#place
    const args = ['--data', data, '--port', '0', '--keys', '--audit', join(beside, 'audit')]
    const env = { ...process.env, HICKORY_HTTP_THREADS: '1', HICKORY_QUERY_THREADS: '1' }
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    const child = spawn(process.execPath, [cli, 'serve', ...args], { env, stdio: [...stdio] })
    this.#children.add(child)
    let [printed, log] = ['', '']
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        this.#log = log
        const address = / at (http:\S+)\n/.exec(printed)?.[1]
        if (address === undefined || !log.includes('"msg":"ready"')) return
        this.#url = address
        resolve()
      }
      child.stdout.on('data', (text) => {
        printed += text
        look()
      })
      child.stderr.on('data', (text) => {
        log += text
        look()
      })
      child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${log}`)))
    })
  }
}

/** What somebody would have to look at, or that something is missing. */
const COMPLAINT = /"level":(50|60|"error"|"fatal")|could not be made/

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
