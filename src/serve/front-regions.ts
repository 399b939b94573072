/**
 * The part of a front thread that asks other machines for shards which this one does not hold, and runs tasks of theirs.
 * It connects to NATS when there is the first snapshot whose shards are on several machines.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { TaskCalls } from '../cluster/nats/calls.js'
import type { Connection, NatsSettings } from '../cluster/nats/connection.js'
import { namesOf } from '../cluster/nats/names.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { QueryRunner } from '../pool/tasks.js'
import { OtherMachines } from '../regions/other-machines.js'
import { SpreadRunner } from '../regions/spread-runner.js'
import { TaskDesk } from '../regions/task-desk.js'
import { catalogueOf } from '../selection/catalogue.js'
import type { Freshness } from '../selection/freshness.js'
import type { LiveViews } from '../selection/live-views.js'
import type { Snapshot } from '../snapshot/snapshot.js'

export interface RegionsOptions {
  readonly nats: NatsSettings
  readonly clusterId: string
  /** The name of this machine. */
  readonly name: string
  readonly frontIndex: number
  readonly freshness: Freshness
  readonly log: Log
}

/** A snapshot whose shards are on several machines. */
export interface SpreadSnapshot {
  /** For all of its shards. */
  readonly runner: QueryRunner
  isHere(shardIndex: number): boolean
  /** Lets others ask. */
  serve(views: LiveViews): void
  /** Lets others finish what they have begun, unless the thread ends. */
  close(): Promise<void>
}

export class FrontRegions {
  readonly #options: RegionsOptions
  readonly #desk: TaskDesk
  readonly #over = new AbortController()
  #opening: Promise<{ connection: Connection; calls: TaskCalls }> | undefined

  constructor(options: RegionsOptions) {
    const { freshness } = options
    this.#options = options
    this.#desk = new TaskDesk(() => freshness.lagSeconds() === undefined)
  }

  /**
   * @param local  the query workers of this machine
   * @returns undefined where every machine holds all of the snapshot
   * @throws OperatorError  where NATS does not let it in
   */
  async spread(snapshot: Snapshot, local: QueryRunner): Promise<SpreadSnapshot | undefined> {
    const { holders: byPlace, id: snapshotId, sources } = snapshot
    if (byPlace === undefined) return undefined
    const { name } = this.#options
    const { calls } = await this.#opened()
    const facts = { snapshotId, createdAt: snapshot.createdAt, sources, shards: snapshot.shards }
    const { shards } = catalogueOf(facts)
    const ofIndex = shards.map(({ placeId }) => byPlace[placeId])
    const isHere = (index: number) => ofIndex[index]?.includes(name) ?? true
    const others = ofIndex.map((machines) => machines?.filter((machine) => machine !== name) ?? [])
    const heldBy = indexesByMachine(ofIndex)
    const holders = { isHere, of: (index: number) => others[index] }
    let end = () => {}
    return {
      isHere,
      runner: new SpreadRunner({
        local,
        holders,
        others: new OtherMachines({
          way: calls,
          snapshotId,
          holders,
          heldBy: (machine) => heldBy.get(machine) ?? [],
          askerId: calls.askerId,
        }),
        sourceIdOf: (index) => shards[index].sourceId,
      }),
      serve: (views) => {
        const untilMoment = (moment: number, deadlineMs: number) => views.until(moment, deadlineMs)
        const asked = { local, shardCount: shards.length, isHere, untilMoment }
        end = this.#desk.open(snapshotId, asked)
      },
      close: async () => {
        const { signal } = this.#over
        await sleep(limits.othersFinishMs, undefined, { signal }).catch(() => {})
        end()
      },
    }
  }

  /** Asks no machine any more. To be called before the snapshots are closed. */
  end(): void {
    this.#over.abort()
  }

  async close(): Promise<void> {
    this.end()
    const opened = await this.#opening?.catch(() => undefined)
    opened?.calls.close()
    await opened?.connection.close()
  }

  #opened(): Promise<{ connection: Connection; calls: TaskCalls }> {
    this.#opening ??= this.#open().catch((fault: unknown) => {
      this.#opening = undefined
      throw fault
    })
    return this.#opening
  }

  async #open() {
    const { nats, clusterId, name, frontIndex, log } = this.#options
    // Loading its library takes a sixth of the time in which a thread starts, and most threads never need it.
    const { Connection } = await import('../cluster/nats/connection.js')
    const connection = await Connection.open(nats, `${name} front ${frontIndex}`, {
      onChange: (isUp) => log.info({ isUp }, 'the connection of a front thread to NATS'),
      onDenied: (reason) => log.error({ reason }, 'NATS does not permit it'),
    })
    const answer = (question: Uint8Array) => this.#desk.answer(question)
    const names = namesOf(clusterId)
    return { connection, calls: new TaskCalls({ connection, names, name, frontIndex, answer }) }
  }
}

/** All shards that each machine holds. */
function indexesByMachine(
  ofIndex: readonly (readonly string[] | undefined)[],
): ReadonlyMap<string, readonly number[]> {
  const byMachine = new Map<string, number[]>()
  for (const [index, machines] of ofIndex.entries()) {
    for (const machine of machines ?? []) {
      const own = byMachine.get(machine)
      if (own === undefined) byMachine.set(machine, [index])
      else own.push(index)
    }
  }
  return byMachine
}
