/**
 * The thread of a cluster: it makes the directory one of the cluster, and then keeps it so.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { JournalDamaged } from '../journal/damaged.js'
import { limits } from '../limits.js'
import { createLog, describeFault } from '../log.js'
import { Questions } from '../questions.js'
import { noteConnection } from './connection-file.js'
import { join } from './join.js'
import type { DigestsAnswer, LocalDigests } from './machine-digests.js'
import type {
  ClusterNews,
  ClusterOrder,
  ClusterThreadData,
  Entered,
  EnteredReply,
} from './messages.js'
import { ClusterNats } from './nats/cluster-nats.js'
import { ClusterNode } from './node.js'
import { type NodeQuestion, operatorKinds } from './questions.js'
import { type BeginsAnew, Promises, readTail } from './state-file.js'

/** @param main  to the main thread */
export function serveCluster(main: MessagePort, data: ClusterThreadData): void {
  const { dataDirectory, settings, version, figures } = data
  const log = createLog(data.logLevel, { thread: 'cluster' })
  const tell = (news: ClusterNews) => main.postMessage(news)
  const over = new AbortController()
  const { signal } = over
  let connecting: Promise<ClusterNats> | undefined
  let node: ClusterNode | undefined
  let hasToldDenial = false
  let timer: NodeJS.Timeout | undefined
  let isLost = false
  const serves = { machine: serve, operator: serveOperator }
  const storing = new Questions<number | undefined>()
  const entering = new Questions<EnteredReply>()
  /** What the node is to hear that is not there yet. */
  const early: ClusterOrder[] = []
  const asked = new Questions<DigestsAnswer<LocalDigests>>()

  process.on('uncaughtException', (fault) => {
    log.fatal(describeFault(fault), 'the thread of the cluster failed')
    process.exit(1)
  })

  const joined = join({ dataDirectory, settings, connected, log, signal })
  joined.then(
    () => tell({ kind: 'joined' }),
    (fault: unknown) => {
      const code = fault instanceof OperatorError ? fault.code : 'Failed'
      tell({ kind: 'refused', code, message: (fault as Error).message })
    },
  )

  main.on('message', async (order: ClusterOrder) => {
    if (order.kind === 'stop') await stop()
    else if (order.kind === 'run') await run(order)
    else if (order.kind === 'stored') storing.settle(order.number, order.sequence)
    else if (order.kind === 'entered') entering.settle(order.number, order)
    else if (order.kind === 'recover') await recover(order.reason)
    else if (order.kind === 'digests') asked.settle(order.number, order.answer)
    else if (node !== undefined) await carryOut(node, order)
    else if (order.kind === 'leave') tell({ kind: 'left' })
    else if (order.kind === 'everywhere') tell({ ...NOWHERE, number: order.number })
    else if (order.kind === 'audience') {
      tell({ kind: 'audience', number: order.number, fault: 'the machine is starting' })
    } else early.push(order)
  })

  /** One connection, however long it takes: a machine that has nothing yet can only wait. */
  function connected(): Promise<ClusterNats> {
    connecting ??= connect()
    return connecting
  }

  async function connect(): Promise<ClusterNats> {
    const { clusterId, name, nats } = settings
    let hasFailed = false
    for (;;) {
      try {
        return await ClusterNats.open({
          settings: nats,
          clusterId,
          name,
          onChange,
          onDenied,
          serves,
        })
      } catch (fault) {
        if (fault instanceof OperatorError && fault.code === 'Usage') throw fault
        if (!hasFailed) log.warn({ reason: (fault as Error).message }, 'waiting for NATS')
        hasFailed = true
        await sleep(limits.natsRetryMs, undefined, { signal })
      }
    }
  }

  function onChange(isUp: boolean): void {
    hasToldDenial = false
    log.warn(isUp ? 'NATS is there again' : 'NATS is gone')
  }

  /** Once for a connection: what is denied is tried several times a second. */
  function onDenied(reason: string): void {
    if (hasToldDenial) return
    hasToldDenial = true
    log.error({ reason }, 'NATS does not let this machine do what it must')
  }

  async function serve(question: unknown): Promise<unknown> {
    if (node === undefined) throw new Error('the machine is starting')
    return await node.answer(question as NodeQuestion)
  }

  async function serveOperator(question: unknown): Promise<unknown> {
    const { kind } = question as NodeQuestion
    if (operatorKinds.some((each) => each === kind)) return await serve(question)
    throw new Error(`an operator may not ask for ${kind}`)
  }

  async function run(order: Extract<ClusterOrder, { kind: 'run' }>): Promise<void> {
    const state = await joined
    const nats = await connected()
    if (signal.aborted) return
    await noteConnection(dataDirectory, settings)
    const promises = new Promises(dataDirectory, state)
    const started = startNode({
      dataDirectory,
      settings,
      version,
      figures,
      state,
      promises,
      nats,
      log,
      run: order,
      stored,
      digests: (question) => asked.ask((number) => tell({ ...question, kind: 'digests', number })),
      enter,
      onWanted: (wanted) => tell({ kind: 'wanted', ...wanted }),
      onLost: (reason) => void beginAnew(promises, reason),
    })
    if (started === undefined) return await beginAnew(promises, 'suspect')
    node = started
    for (const each of early.splice(0)) await carryOut(started, each)
    const tellStatus = () => tell({ kind: 'status', status: started.status() })
    tellStatus()
    timer = setInterval(tellStatus, limits.clusterStatusMs)
  }

  async function stored(): Promise<number> {
    const sequence = await storing.ask((number) => tell({ kind: 'keepStored', number }))
    if (sequence !== undefined) return sequence
    throw new OperatorError('Failed', 'the store of this machine cannot be written')
  }

  async function enter(entry: Uint8Array): Promise<Entered> {
    const { entered, fault } = await entering.ask((number) =>
      tell({ kind: 'enter', number, entry }),
    )
    if (fault !== undefined) throw new OperatorError('Failed', fault)
    return entered
  }

  async function carryOut(node: ClusterNode, order: ClusterOrder): Promise<void> {
    switch (order.kind) {
      case 'answersBy':
        return node.answersBy(order.sequence)
      case 'snapshots':
        return node.serves(order)
      case 'audiences':
        return node.audiences.desk.know(order.upTo, order.audiences)
      case 'audience':
        return tell(await answered(node, order))
      case 'damaged': {
        const { snapshotId } = order
        if (await node.repair(snapshotId)) tell({ kind: 'repaired', snapshotId })
        return undefined
      }
      case 'everywhere': {
        const { number, sequence, waitMs } = order
        const found = await node.untilEverywhere(sequence, waitMs)
        return tell({ kind: 'everywhere', number, ...found })
      }
      case 'leave':
        await node.leave().catch(() => {})
        return tell({ kind: 'left' })
      default:
        return undefined
    }
  }

  /** Undefined where the journal is damaged and others have it: where the service reads it no more, it starts all the same. */
  function startNode(options: ConstructorParameters<typeof ClusterNode>[0]) {
    try {
      return new ClusterNode(options)
    } catch (fault) {
      if (fault instanceof JournalDamaged && areOthers()) return undefined
      throw fault
    }
  }

  /** Alone, nobody has what could be begun with. */
  function areOthers(): boolean {
    return (node?.members() ?? readTail(dataDirectory).members).length > 1
  }

  /** What the service could not start with. */
  async function recover(reason: BeginsAnew): Promise<void> {
    const state = await joined
    const canRecover = areOthers()
    if (canRecover) await beginAnew(new Promises(dataDirectory, state), reason)
    tell({ kind: 'recovers', canRecover })
  }

  /** Noted first, so that the next start does so, whatever comes in between. */
  async function beginAnew(promises: Promises, reason: BeginsAnew): Promise<void> {
    if (signal.aborted || isLost) return
    isLost = true
    if (reason !== 'gone' && node !== undefined && !areOthers()) {
      throw new OperatorError(
        'Failed',
        'the directory is lost, and no other machine has what was in it',
      )
    }
    // Of what seemed to be a journal that cannot be read nothing may be there at all.
    const found = promises.isThere() ? reason : 'damaged'
    log.error(
      { reason: found },
      'the journal of this machine cannot go on: beginning with what others have',
    )
    await promises.beginAnew(found)
    tell({ kind: 'beginAnew', reason: found })
  }

  async function stop(): Promise<void> {
    over.abort()
    clearInterval(timer)
    await node?.stop()
    const nats = connecting && (await Promise.race([connecting, sleep(0)]).catch(() => undefined))
    if (nats !== undefined) await (nats as ClusterNats).close().catch(() => {})
    process.exit()
  }
}

async function answered(
  node: ClusterNode,
  { number, ask }: Extract<ClusterOrder, { kind: 'audience' }>,
): Promise<ClusterNews> {
  try {
    return { kind: 'audience', number, told: await node.audiences.answer(ask) }
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException
    const isOurs = fault instanceof OperatorError
    return { kind: 'audience', number, fault: isOurs ? message : (code ?? message) }
  }
}

const NOWHERE = { kind: 'everywhere', isEverywhere: false, waitingFor: [] } as const
