/**
 * The HTTP library that the tests of a run are for: `HICKORY_HTTP_ENGINE`, as services take it, too.
 *
 * @module
 */
import { bestEngine, loadEngine } from '../../../src/http/engine/choose.js'
import type { Engine, EngineName } from '../../../src/http/engine/engine.js'

const asked = process.env.HICKORY_HTTP_ENGINE ?? 'auto'

export const engine: Engine =
  asked === 'auto' ? await bestEngine() : await loadEngine(asked as EngineName)
