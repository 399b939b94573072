/**
 * Loaded before a test file: tap follows each promise by async hooks, so that an error that nobody awaits fails the
 * test that it belongs to. That takes more than a third of the time of a file that makes many promises. Without the
 * hooks, such an error fails the file, most often by ending it.
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
