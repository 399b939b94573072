/**
 * A full port was answered with the advice to start both with --share-port, and then two services of different data
 * directories each answered half of the requests, without a word in either log.
 */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cannotListen } from '../../src/http/listen.js'
import { sharePort } from '../../src/serve/shared-port.js'
import { freePort } from '../support/service/free-port.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const [blue, green] = [temporaryDirectory(t), temporaryDirectory(t)]
const link = join(green, 'link')
symlinkSync(blue, link)
const port = await freePort()

const OTHER = { code: 'AddressInUse', message: /a service of another data directory has it/ }

t.test('a service shares a port with those of its data directory alone', async (t) => {
  const at = (dataDirectory: string, host = '127.0.0.1') => sharePort({ host, port, dataDirectory })
  const first = await at(blue)
  const second = await at(link)
  await t.rejects(at(green), OTHER)
  for (const host of ['0.0.0.0', '::', 'localhost']) await t.rejects(at(green, host), OTHER, host)
  // Clients of one are never those of the other.
  for (const host of ['127.0.0.2', '::1']) (await at(green, host)).release()
  const next = await sharePort({ host: '127.0.0.1', port: port + 1, dataDirectory: green })
  next.release()
  first.release()
  await t.rejects(at(green), OTHER, 'the second one is still there')
  second.release()
  const other = await at(green)
  await t.rejects(at(blue), OTHER)
  other.release()
})

t.test('of two that begin at the same time, not both begin', async (t) => {
  for (let round = 0; round < 20; round++) {
    const outcomes = await Promise.allSettled(
      [blue, green].map((dataDirectory) => sharePort({ host: '0.0.0.0', port, dataDirectory })),
    )
    const begun = outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    t.ok(begun.length < 2)
    for (const share of begun) share.release()
  }
})

t.test('a port that is full is not to be shared', async (t) => {
  const { message } = await cannotListen('127.0.0.1', port, 'EADDRINUSE')
  t.notMatch(message, /share/)
})
