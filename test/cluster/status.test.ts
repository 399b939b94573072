import t from 'tap'
import type { ClusterStatus, MachineStatus } from '../../src/cluster/messages.js'
import { compactionRank } from '../../src/cluster/status.js'
import { limits } from '../../src/limits.js'

function machine(name: string, about: Partial<MachineStatus> = {}): MachineStatus {
  return {
    name,
    version: '1',
    isMember: true,
    isLevel: true,
    written: 0,
    answersBy: 0,
    fault: undefined,
    snapshotId: undefined,
    isDraining: false,
    silentMs: 0,
    ...about,
  }
}

function rankAmong(...machines: MachineStatus[]): number | undefined {
  return rankDuring({ isSwitching: false }, machines)
}

function rankDuring(about: { isSwitching: boolean }, machines: MachineStatus[]) {
  const known = { clusterId: 'x', isConnected: true, doubt: undefined, log: undefined, ...about }
  return compactionRank({ ...known, name: machines[0].name, machines } satisfies ClusterStatus)
}

t.test('machines make snapshots by the order of their names', async (t) => {
  t.equal(rankAmong(machine('a')), 0)
  t.equal(rankAmong(machine('a'), machine('b'), machine('c')), 0)
  t.equal(rankAmong(machine('b'), machine('a'), machine('c')), 1)
  t.equal(rankAmong(machine('c'), machine('a'), machine('b')), 2)
})

t.test('those that are away or not level are passed over', async (t) => {
  t.equal(rankAmong(machine('b'), machine('a', { isLevel: false })), 0)
  t.equal(rankAmong(machine('b'), machine('a', { silentMs: undefined })), 0)
  const { clusterSilenceMs } = limits
  t.equal(rankAmong(machine('b'), machine('a', { silentMs: clusterSilenceMs })), 0)
  t.equal(rankAmong(machine('b'), machine('a', { silentMs: clusterSilenceMs - 1 })), 1)
  t.equal(rankAmong(machine('a', { isLevel: false }), machine('b')), undefined)
})

t.test('where no machine is level, all that are there make snapshots', async (t) => {
  const away = (name: string, silentMs = 0) => machine(name, { isLevel: false, silentMs })
  t.equal(rankAmong(away('a')), 0)
  t.equal(rankAmong(away('c'), away('a'), away('b', limits.clusterSilenceMs)), 1)
})

t.test('no machine makes one until all have switched to the last one', async (t) => {
  t.equal(rankDuring({ isSwitching: true }, [machine('a'), machine('b')]), undefined)
})
