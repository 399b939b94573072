/**
 * The log in memory, on which other tests rely, keeps to the contract of the real one.
 */
import t from 'tap'
import { keepsTheContract } from './log-contract.js'
import { MemoryLog, MemoryServers } from './memory-log.js'

t.test('a log in memory', async (t) => {
  const servers = new MemoryServers()
  servers.remove()
  await keepsTheContract(t, {
    open: async () => new MemoryLog(servers),
    found: async (founding) => servers.found(founding),
    replace: async (founding, replaced) => servers.replace(founding, replaced),
    remove: async () => servers.remove(),
  })
})
