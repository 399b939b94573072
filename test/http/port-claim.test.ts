/**
 * A port that one process keeps for itself, although several of its threads listen on it. (Linux)
 *
 * @module
 */
import t from 'tap'
import { claimPort, refuseClaimedPort } from '../../src/http/port-claim.js'

const PORT = 8080
const REFUSED = { code: 'AddressInUse', message: /another process has port 8080/ }
const HOST = `claim-${process.pid}`
const LINUX = { skip: process.platform !== 'linux' && 'other systems have no abstract names' }

t.test('a claim keeps others out until it is released', LINUX, async (t) => {
  const claim = await claimPort(HOST, PORT)
  await t.rejects(claimPort(HOST, PORT), REFUSED)
  await t.rejects(refuseClaimedPort(HOST, PORT), REFUSED)
  await t.resolves(refuseClaimedPort(HOST, PORT + 1))
  await t.resolves(refuseClaimedPort(`${HOST}-other`, PORT))
  claim.release()
  await t.resolves(refuseClaimedPort(HOST, PORT))
  const next = await claimPort(HOST, PORT)
  next.release()
})

t.test('a claim of all addresses is one of each', LINUX, async (t) => {
  // Of a port that is most likely nobody’s, since the name is that of a real service.
  const port = 1
  for (const all of ['0.0.0.0', '::']) {
    const claim = await claimPort(all, port)
    await t.rejects(refuseClaimedPort(HOST, port), { code: 'AddressInUse' })
    claim.release()
  }
})

t.test('a host of any length has a claim', LINUX, async (t) => {
  const host = `${HOST}.${'a'.repeat(240)}`
  const claim = await claimPort(host, 65_535)
  await t.rejects(refuseClaimedPort(host, 65_535), { code: 'AddressInUse' })
  claim.release()
})
