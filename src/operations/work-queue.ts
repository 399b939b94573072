/**
 * Work that nobody need wait for: a few pieces at a time, and each at most once at a time. Each
 * begins in a turn of the event loop of its own, since its first step may take long, and requests
 * are not to wait for several of them.
 *
 * @module
 */

interface WorkQueue<Value> {
  /**
   * Joins the piece of work that goes on or waits under this key, or adds it.
   *
   * @param work  never rejects
   * @returns what it gives, or undefined from a queue that was stopped before its turn came;
   *   undefined at once where there is no room for more
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
