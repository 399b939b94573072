/**
 * Waiting for what happens in the background.
 *
 * @module
 */

/** Far longer than anything takes: a busy machine is no failure. */
const WAIT_MS = 120_000

/** Polls, because what is waited for happens on another connection or thread. */
export async function until(isSo: () => boolean, waitMs = WAIT_MS): Promise<void> {
  const deadlineMs = performance.now() + waitMs
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${waitMs} ms: ${isSo}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The same for what is asked of somebody else. */
export async function untilTold(isSo: () => Promise<boolean>, waitMs = WAIT_MS): Promise<void> {
  const deadlineMs = performance.now() + waitMs
  while (!(await isSo())) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${waitMs} ms: ${isSo}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
