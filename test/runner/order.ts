/**
 * The order in which test files start. Those that are not named here follow by their names.
 *
 * @module
 */

/** The longest, in this order: at the end, no core waits for one of them. */
export const startFirst: readonly string[] = [
  'test/package/tarball.long.test.ts',
  'test/http/body.test.ts',
  'test/http/framing.test.ts',
  'test/selection/oracle.test.ts',
  'test/faults/kill.long.test.ts',
  'test/faults/errors.long.test.ts',
  'test/selection/model.long.test.ts',
  'test/sources/files.test.ts',
  'test/store/durable.long.test.ts',
  'test/cluster/faults/faults.long.test.ts',
  'test/contract/kill.long.test.ts',
  'test/snapshot/damage.test.ts',
  'test/contract/suppressions.long.test.ts',
  'test/interface/random-answers.test.ts',
  'test/fuzz/fuzz.long.test.ts',
  'test/sources/formats.test.ts',
  'test/outline/run-task.test.ts',
  'test/contract/openapi.long.test.ts',
  'test/contract/service-faults.long.test.ts',
  'test/http/response/compression.test.ts',
]

/**
 * Clients that keep a service busy, or wait for moments that a busy machine would not give them:
 * these files run when all others have ended, one by one.
 */
export const alone: readonly string[] = [
  'test/contract/rolling.long.test.ts',
  'test/contract/suppression-processes.long.test.ts',
  'test/contract/swap.long.test.ts',
  'test/http/slow-clients.long.test.ts',
  'test/loadtest/generator/wrk.long.test.ts',
  'test/loadtest/harness/drive.long.test.ts',
]
