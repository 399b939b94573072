/**
 * A queue of background work: a few pieces run at a time, and each key at most once at a time. Each piece begins in
 * a turn of the event loop of its own, since its first step may take long and requests must not wait for several.
 *
 * @module
 */

interface WorkQueue<Value> {
  /**
   * Joins the piece of work that runs or waits under this key, or adds it.
   *
   * @param work  never rejects
   * @returns its result, or undefined if the queue was stopped before it began; undefined at once if the queue
   *   is full
   */
  join(key: string, work: () => Promise<Value>): Promise<Value | undefined> | undefined
  /** Begins nothing more. */
  stop(): void
}

interface WorkBounds {
  readonly runningCount: number
  readonly waitingCount: number
}

export function workQueue<Value>(bounds: WorkBounds): WorkQueue<Value> {
  const pieces = new Map<string, Promise<Value | undefined>>()
  const waiting: (() => void)[] = []
  let runningCount = 0
  let isStopped = false
  let lastTurn = Promise.resolve()

  function ownTurn(): Promise<void> {
    lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
    return lastTurn
  }

  async function run(key: string, work: () => Promise<Value>): Promise<Value | undefined> {
    if (runningCount < bounds.runningCount) runningCount++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    if (!isStopped) await ownTurn()
    try {
      return isStopped ? undefined : await work()
    } finally {
      pieces.delete(key)
      const next = waiting.shift()
      if (next === undefined) runningCount--
      else next()
    }
  }

  return {
    join(key, work) {
      const joined = pieces.get(key)
      if (joined !== undefined) return joined
      const isFull = runningCount >= bounds.runningCount && waiting.length >= bounds.waitingCount
      if (isStopped || isFull) return undefined
      const piece = run(key, work)
      pieces.set(key, piece)
      return piece
    },
    stop() {
      isStopped = true
      for (const next of waiting.splice(0)) next()
    },
  }
}
