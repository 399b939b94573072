import t from 'tap'
import type { MachineStatus } from '../../src/cluster/messages.js'
import { compactionRank } from '../../src/cluster/status.js'
import { limits } from '../../src/limits.js'
import { machineOf, statusOf } from '../support/data/cluster-status.js'

function rankAmong(...machines: MachineStatus[]): number | undefined {
  return rankDuring({ isSwitching: false }, machines)
}

function rankDuring(about: { isSwitching: boolean }, machines: MachineStatus[]) {
  return compactionRank(statusOf(machines, about))
}

t.test('machines make snapshots by the order of their names', async (t) => {
  t.equal(rankAmong(machineOf('a')), 0)
  t.equal(rankAmong(machineOf('a'), machineOf('b'), machineOf('c')), 0)
  t.equal(rankAmong(machineOf('b'), machineOf('a'), machineOf('c')), 1)
  t.equal(rankAmong(machineOf('c'), machineOf('a'), machineOf('b')), 2)
})

t.test('those that are away or not level are passed over', async (t) => {
  t.equal(rankAmong(machineOf('b'), machineOf('a', { isLevel: false })), 0)
  t.equal(rankAmong(machineOf('b'), machineOf('a', { silentMs: undefined })), 0)
  const { clusterSilenceMs } = limits
  t.equal(rankAmong(machineOf('b'), machineOf('a', { silentMs: clusterSilenceMs })), 0)
  t.equal(rankAmong(machineOf('b'), machineOf('a', { silentMs: clusterSilenceMs - 1 })), 1)
  t.equal(rankAmong(machineOf('a', { isLevel: false }), machineOf('b')), undefined)
})

t.test('where no machine is level, all that are there make snapshots', async (t) => {
  const away = (name: string, silentMs = 0) => machineOf(name, { isLevel: false, silentMs })
  t.equal(rankAmong(away('a')), 0)
  t.equal(rankAmong(away('c'), away('a'), away('b', limits.clusterSilenceMs)), 1)
})

t.test('no machine makes one until all have switched to the last one', async (t) => {
  t.equal(rankDuring({ isSwitching: true }, [machineOf('a'), machineOf('b')]), undefined)
})
