/**
 * What becomes of tasks when machines do not answer, refuse, or take long.
 */
import { unpack } from 'msgpackr'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { type Caller, callerUntil, type QueryRunner } from '../../src/pool/tasks.js'
import { OtherMachines } from '../../src/regions/other-machines.js'
import { decodeTask, encodeOutcome, encodeTask } from '../../src/regions/task-codec.js'
import { TaskDesk } from '../../src/regions/task-desk.js'
import { createMask, type Mask } from '../../src/shard/mask.js'

/** Three shards, two of them on two machines. */
const HOLDERS = [['a', 'b'], ['b', 'c'], ['c']]
const SHAPES = { included: [], excluded: [], nearest: [] }

const counting = (shardIndexes: readonly number[], missing?: Set<number>) => {
  const plain = { countMode: 'ContactLocation', isDistinct: false, mask: null, moment: 0 } as const
  return { kind: 'count', shardIndexes, shapes: SHAPES, isLarge: false, missing, ...plain } as const
}

type Fate = (machine: string) => Promise<void> | void

/** Machines that count 10, 11 and 12 in the shards, in this order. */
function machines(fate: Fate) {
  const asked: string[] = []
  const others = new OtherMachines({
    way: {
      async ask(machine, question) {
        asked.push(machine)
        await fate(machine)
        const task = decodeTask(question)?.task
        if (task === undefined || !('shardIndexes' in task)) throw new Error('a count is asked for')
        return encodeOutcome({ result: task.shardIndexes.map((index) => 10 + index) })
      },
    },
    snapshotId: '000001-00000000',
    holders: { isHere: () => false, of: (index) => HOLDERS[index] },
    heldBy: (machine) => [0, 1, 2].filter((index) => HOLDERS[index].includes(machine)),
    askerId: 'asker',
  })
  return { others, asked }
}

const soon = () => callerUntil(performance.now() + 10_000)

t.test('each shard is asked of one machine, and of as few machines as hold them', async (t) => {
  const { others, asked } = machines(() => {})
  t.same(await others.run<'count'>(counting([0, 1, 2]), soon()), [10, 11, 12])
  t.same(asked.sort(), ['a', 'b', 'c'].slice(0, asked.length))
  const fewer = machines(() => {})
  t.same(await fewer.others.run<'count'>(counting([1, 2]), soon()), [11, 12])
  t.ok(fewer.asked.length <= 2)
})

t.test('another machine is asked when one is away, and that one last from then on', async (t) => {
  const { others, asked } = machines((machine) => {
    if (machine === 'a') throw new Error('a is not there')
  })
  t.same(await others.run<'count'>(counting([0]), soon()), [10])
  t.same(asked, ['a', 'b'])
  t.same(await others.run<'count'>(counting([0]), soon()), [10])
  t.same(asked, ['a', 'b', 'b'])
})

t.test('another machine is asked when one takes long, and the first answer is taken', async (t) => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { others, asked } = machines((machine) => (machine === 'a' ? held : undefined))
  t.same(await others.run<'count'>(counting([0]), soon()), [10])
  t.same(asked, ['a', 'b'])
  release()
})

t.test('what nobody holds who is there is refused, and says who is missing', async (t) => {
  const { others } = machines((machine) => {
    if (machine !== 'b') throw new Error(`${machine} is not there`)
  })
  await t.rejects(others.run<'count'>(counting([0, 1, 2]), soon()), {
    code: 'Unavailable',
    message: 'c is not there',
  })
  const missing = new Set<number>()
  t.same(await others.run<'count'>(counting([0, 1, 2], missing), soon()), [10, 11, 0])
  t.same(missing, new Set([2]))
})

t.test('a task that costs too much is so everywhere', async (t) => {
  const asked: string[] = []
  const refusing = new OtherMachines({
    way: {
      async ask(machine) {
        asked.push(machine)
        return encodeOutcome({ refusal: 'TooComplex', message: 'simplify it' })
      },
    },
    snapshotId: '000001-00000000',
    holders: { isHere: () => false, of: () => ['a', 'b'] },
    heldBy: () => [0],
    askerId: 'asker',
  })
  const found = refusing.run<'count'>(counting([0]), soon())
  await t.rejects(found, { code: 'TooComplex', message: 'simplify it' })
  t.same(asked, ['a'])
})

const MASKED = { ...counting([0]), mask: createMask(7, [Uint32Array.of(0, 3)]) }

/** A machine with one shard that tells which masks its tasks have. */
function desk(options: { readonly isLevel?: boolean; readonly run?: QueryRunner['run'] } = {}) {
  const masks: unknown[] = []
  const local: QueryRunner = {
    run: (task: never, caller: Caller) => {
      masks.push((task as { mask: { id: number; runs: unknown } | null }).mask)
      return options.run === undefined ? ([1] as never) : options.run(task, caller)
    },
  }
  const served = new TaskDesk(() => options.isLevel ?? true)
  const end = served.open('1', {
    local,
    shardCount: 2,
    isHere: (index) => index === 0,
    untilMoment: async (moment) => moment <= 5,
  })
  const ask = async (
    sent: Partial<Parameters<typeof encodeTask>[0]> = {},
  ): Promise<{ refusal?: string; result?: unknown }> => {
    const whole = { snapshotId: '1', task: counting([0]), moment: 0, leftMs: 1_000, ...sent }
    const found = await served.answer(encodeTask({ mask: undefined, ...whole }))
    return JSON.parse(JSON.stringify(found && decoded(found)))
  }
  return { ask, masks, served, end }
}

function decoded(bytes: Uint8Array): unknown {
  return unpack(bytes)
}

t.test('a machine runs what it holds, of the snapshot and moment that is meant', async (t) => {
  const { ask } = desk()
  t.same(await ask(), { result: [1] })
  t.match(await ask({ snapshotId: '2' }), { refusal: 'NotHere' })
  t.match(await ask({ task: counting([0, 1]) }), { refusal: 'NotHere' })
  t.same(await ask({ moment: 5 }), { result: [1] })
  t.match(await ask({ moment: 6 }), { refusal: 'NotHere' })
  t.match(await desk({ isLevel: false }).ask(), { refusal: 'NotHere' })
  const refuse = (code: 'Overloaded' | 'TooComplex' | 'Unavailable') => () =>
    Promise.reject(new ServiceError(code, 'no'))
  for (const code of ['Overloaded', 'TooComplex', 'Unavailable'] as const) {
    t.match(await desk({ run: refuse(code) as never }).ask(), { refusal: code })
  }
})

t.test('a mask travels once, and is forgotten when there are too many', async (t) => {
  const { ask, masks, end } = desk()
  const runs = new Map([[0, Uint32Array.of(0, 3)]])
  const withMask = (key: string, own?: typeof runs) =>
    ask({ task: MASKED, mask: { key, runs: own } })
  t.match(await withMask('k 1'), { refusal: 'UnknownMask' })
  t.same(await withMask('k 1', runs), { result: [1] })
  t.same(await withMask('k 1'), { result: [1] })
  t.equal(masks[0], masks[1])
  t.match(masks[0], { runs: [Uint32Array.of(0, 3), new Uint32Array(0)] })
  for (let at = 2; at <= limits.masksOfOthersCount; at++) await withMask(`k ${at}`, runs)
  t.same(await withMask('k 1'), { result: [1] }, 'as many as are kept')
  await withMask(`k ${limits.masksOfOthersCount + 1}`, runs)
  t.match(await withMask('k 2'), { refusal: 'UnknownMask' }, 'one more')
  end()
  t.match(await withMask('k 1'), { refusal: 'NotHere' })
})

t.test('masks with nobody in the first shard of a machine are told apart', async (t) => {
  const served = new TaskDesk(() => true)
  served.open('000001-00000000', {
    local: {
      run: (task: never) => {
        const { shardIndexes, mask } = task as { shardIndexes: readonly number[]; mask: Mask }
        return Promise.resolve(shardIndexes.map((index) => mask.runs[index][1] ?? 0)) as never
      },
    },
    shardCount: 2,
    isHere: () => true,
    untilMoment: () => Promise.resolve(true),
  })
  const others = new OtherMachines({
    way: { ask: async (_machine, question) => (await served.answer(question)) as Uint8Array },
    snapshotId: '000001-00000000',
    holders: { isHere: () => false, of: () => ['a'] },
    heldBy: () => [0, 1],
    askerId: 'asker',
  })
  for (const [id, count] of [2, 3, 2].entries()) {
    const mask = createMask(id + 1, [new Uint32Array(0), Uint32Array.of(0, count)])
    t.same(await others.run<'count'>({ ...counting([0, 1]), mask }, soon()), [0, count])
    // At another moment only those who came are others, and this machine has them.
    const later = { ...mask, id: 10 + id, baseId: mask.id }
    t.same(await others.run<'count'>({ ...counting([0, 1]), mask: later }, soon()), [0, count])
  }
})

t.test('bytes that are no task of this version are not answered', async (t) => {
  const { served } = desk()
  t.equal(await served.answer(Buffer.from('nonsense')), undefined)
  t.equal(await served.answer(new Uint8Array(0)), undefined)
})

t.test('a snapshot that was opened once more stays when the first one ends', async (t) => {
  const { ask, served, end } = desk()
  const again = { local: { run: async () => [2] as never }, shardCount: 1, isHere: () => true }
  served.open('1', { ...again, untilMoment: async () => true })
  end()
  t.same(await ask(), { result: [2] })
})
