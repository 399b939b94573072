/**
 * The files for NATS that packages install say what the code goes by.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nkeys } from '@nats-io/transport-node'
import t from 'tap'
import { namesOf } from '../../src/cluster/nats/names.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { systemFile } from '../support/service/system-file.js'
import { permissionsByCommands, permissionsByNkeys } from './support/nats-identities.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const names = namesOf('main')

t.test('both files let the roles do the same', async (t) => {
  for (const role of ['machine', 'operator'] as const) {
    const { publish, subscribe } = permissionsByNkeys(role)
    t.ok(publish.length > 0 && subscribe.length > 0, role)
    const byCommands = permissionsByCommands(role)
    t.same(byCommands.publish.toSorted(), publish.toSorted(), role)
    t.same(byCommands.subscribe.toSorted(), subscribe.toSorted(), role)
  }
})

t.test(
  'an operator asks machines, hears of them and of what they answer, and nothing else',
  async (t) => {
    t.same(permissionsByNkeys('operator'), {
      publish: [names.command('*')],
      subscribe: [names.reports, names.re('command.*', '*')],
    })
  },
)

t.test(
  'a machine reaches the log and the files of its cluster alone, and ends the log at most',
  async (t) => {
    const { publish } = permissionsByNkeys('machine')
    const streams = [names.stream, `OBJ_${names.files}`]
    for (const subject of publish.filter((each) => each.startsWith('$JS.API.STREAM.'))) {
      t.ok(
        streams.some((stream) => subject.endsWith(`.${stream}`)),
        subject,
      )
      t.notMatch(subject, /\.UPDATE\./)
      // By which it makes it anew.
      t.notMatch(subject, /\.DELETE\.OBJ_/)
    }
    t.ok(publish.includes('hickory.main.>'))
    t.ok(publish.includes(`$O.${names.files}.>`))
  },
)

t.test('the command of the documentation makes an nkey', async (t) => {
  const page = readFileSync(`${root}docs/operations/cluster-nats.md`, 'utf8')
  const [, program = ''] = /node -p '\n([\s\S]*?)'\n/.exec(page) ?? []
  const path = join(temporaryDirectory(t), 'nats.nk')
  const made = program.replace('/etc/hickory/nats.nk', path)
  const run = () => execFileSync(process.execPath, ['-p', made], { cwd: root, stdio: 'pipe' })
  const publicKey = String(run()).trim()
  t.match(publicKey, /^U[A-Z2-7]{55}$/)
  t.equal(nkeys.fromSeed(readFileSync(path)).getPublicKey(), publicKey)
  t.equal(statSync(path).mode & 0o007, 0, 'not for everybody')
  t.throws(run, /EEXIST/, 'no other one takes its place')
})

t.test('the servers take the parts that machines send', async (t) => {
  const [, mostMB] = /^max_payload: (\d+)MB$/m.exec(systemFile('nats/nats-server.conf')) ?? []
  t.ok(Number(mostMB) * 1e6 > limits.messagePartBytes + 16_384)
})
