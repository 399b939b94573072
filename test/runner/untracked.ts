/**
 * Loaded before a test file: tap follows each promise by async hooks, so that an error that nobody awaits fails the
 * test that it belongs to. That takes up to half of the time of a file that makes many promises. Without the hooks,
 * such an error ends the file, which has failed then.
 *
 * @module
 */
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  const hook: asyncHooks.AsyncHook = { enable: () => hook, disable: () => hook }
  asyncHooks.createHook = () => hook
  syncBuiltinESMExports()
}
