/**
 * Loaded before the `hickory` command (`node --import`): cuts sources into shards of a few hundred
 * recipients, so that a small import has many files; and has a file that is too large be an error, as
 * on a full disk, where the system would end the process.
 *
 * @module
 */
import { isMainThread } from 'node:worker_threads'
import { limits } from '../../src/limits.js'

Object.assign(limits, { shardRecipientCount: 500 })

if (isMainThread) process.on('SIGXFSZ', () => {})
