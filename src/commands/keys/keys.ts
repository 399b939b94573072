/**
 * `hickory keys`: who may ask a service, and what.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../../errors.js'
import {
  certifyKey,
  createKey,
  finishRotation,
  type NewSecret,
  revokeKey,
  rotateKey,
} from '../../keys/change-keys.js'
import { limits } from '../../limits.js'
import type { KeyChanger } from '../../store/keys.js'
import { createStore, type MainStore } from '../../store/store.js'
import type { CommandContext } from '../context.js'
import { assertThere } from '../existing-directory.js'
import { print, tell } from '../output.js'
import { openStoreDesk, type StoreDesk } from '../store-desk.js'
import {
  boundaryIn,
  certificateIn,
  expiryOf,
  type KeyFlags,
  keepMsOf,
  keyNameOf,
  scopesOf,
  wholeNumberOf,
} from './key-options.js'
import { printKeys } from './list-keys.js'
import { secretOutput } from './secret-output.js'

export function keysCommand(context: CommandContext): Command {
  const data = ['--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)'] as const
  const secretFile = [
    '--secret-file <FILE>',
    'write the key there, readable by this user alone, instead of printing it',
  ] as const
  const command = new Command('keys')
    .description('say who may ask a service that asks for keys, and what')
    .addHelpText('after', HELP_TAIL)
  command
    .command('create')
    .description('make a key, and print it once')
    .requiredOption('--name <NAME>', 'what lists and logs call the key')
    .requiredOption('--scopes <LIST>', SCOPES_HELP)
    .option('--boundary <FILE>', 'polygons (GeoJSON or Esri) beyond which nobody is answered for')
    .option('--expires <WHEN>', 'when it ends: a day such as 2027-01-31 (UTC), or after 90d or 12h')
    .option('--requests-per-second <N>', 'requests within any second')
    .option('--rows-per-day <N>', 'recipients in all lists of a day (UTC)')
    .option('--concurrent-lists <N>', 'lists at a time')
    .option('--certificate <FILE>', 'TLS certificate that lets its owner in without the key')
    .option(...secretFile)
    .option(...data)
    .addHelpText('after', CREATE_TAIL)
    .action((flags: KeyFlags) => create(context, flags))
  command
    .command('list')
    .description('show all keys, without their secrets')
    .option('--json', 'print one JSON document')
    .option(...data)
    .action((flags: KeyFlags) =>
      withStore(context, flags, async ({ keys }) => printKeys(keys, flags.json === true)),
    )
  command
    .command('revoke')
    .description('let nobody in with a key any more')
    .argument('<NAME>', 'the key, or the id of a damaged one')
    .option(...data)
    .action((name: string, flags: KeyFlags) => revoke(context, name, flags))
  command
    .command('rotate')
    .description('give a key another secret, and print it once; the old one lives on for a while')
    .argument('<NAME>', 'the key')
    .option(
      '--keep-old <TIME>',
      'how long the old secret lives on, such as 12h; 0 ends it (default 7d)',
    )
    .option('--finish', 'end the old secret now, and make no other one')
    .option(...secretFile)
    .option(...data)
    .addHelpText('after', ROTATE_TAIL)
    .action((name: string, flags: KeyFlags) => rotate(context, name, flags))
  command
    .command('certificates')
    .description('let a client in by its TLS certificate, without the secret of the key')
    .argument('<NAME>', 'the key')
    .argument('[FILE...]', 'PEM files, in place of the certificates that the key has; none is none')
    .option(...data)
    .action((name: string, files: string[], flags: KeyFlags) =>
      certify(context, name, files, flags),
    )
  return command
}

const SCOPES_HELP =
  'what it may do, separated by commas: config:read, config:write, contexts:read, contexts:write, ' +
  'counts, lists, suppressions:read, suppressions:write, changes, admin (all of it). config, contexts ' +
  'and suppressions are both of theirs'

const HELP_TAIL = `
A service that was started with --keys answers who has a key, and what its scopes allow. The commands may
run beside services of the data directory. When they end with exit code 0, every service goes by the change.
On a machine of a cluster its service must run, and every machine goes by the change.

Examples:
  $ hickory keys create --name desk-3 --scopes counts,lists,contexts
  $ hickory keys list
  $ hickory keys rotate desk-3
  $ hickory keys revoke desk-3
`

const CREATE_TAIL = `
The key is printed alone on standard output, and never again. The store has only a hash of it.

Examples:
  $ KEY=$(hickory keys create --name desk-3 --scopes counts,lists,contexts)
  $ curl -H "Authorization: Bearer $KEY" http://127.0.0.1:8080/api/contexts
  $ hickory keys create --name county --scopes counts,lists --boundary county.geojson \\
      --expires 90d --requests-per-second 20 --rows-per-day 100000 --secret-file county.key
`

const ROTATE_TAIL = `
Give the new secret to all clients, look at \`hickory keys list\` whether the old one is still used, and
end it with --finish. A secret that somebody has seen ends at once with --keep-old 0.

Examples:
  $ hickory keys rotate desk-3 --keep-old 30d
  $ hickory keys rotate desk-3 --finish
`

async function create(context: CommandContext, flags: KeyFlags): Promise<void> {
  const nowMs = Date.now()
  const { boundary, expires, requestsPerSecond, rowsPerDay, concurrentLists, certificate } = flags
  const wish = {
    name: keyNameOf(flags.name),
    scopes: scopesOf(flags.scopes),
    ...(expires !== undefined && { expiresAt: expiryOf(expires, nowMs) }),
    ...(certificate !== undefined && { certificates: [certificateIn(certificate)] }),
    ...(boundary !== undefined && { boundary: boundaryIn(boundary) }),
    ...(requestsPerSecond !== undefined && {
      requestsPerSecond: wholeNumberOf(
        requestsPerSecond,
        '--requests-per-second',
        limits.keyRequestsPerSecondCount,
      ),
    }),
    ...(rowsPerDay !== undefined && {
      rowsPerDay: wholeNumberOf(rowsPerDay, '--rows-per-day', limits.keyRowsPerDayCount),
    }),
    ...(concurrentLists !== undefined && {
      concurrentLists: wholeNumberOf(
        concurrentLists,
        '--concurrent-lists',
        limits.keyConcurrentListCount,
      ),
    }),
  }
  await withDesk(context, flags, async (desk) => {
    const isFirst = desk.store.keys.read().records.size === 0
    await giveOut(desk, flags, (keys) => createKey(keys, wish, nowMs))
    const until = wish.expiresAt === undefined ? '' : `, until ${wish.expiresAt}`
    tell(`key ${wish.name} is made (${wish.scopes.join(', ')})${until}; it is not shown again`)
    if (isFirst) tell(FIRST)
  })
}

const FIRST =
  'It is the first key: a service that runs without --keys goes on to ask for none, and from now on ' +
  '`hickory serve` needs --keys, or --open, to start.'

async function rotate(context: CommandContext, name: string, flags: KeyFlags): Promise<void> {
  const nowMs = Date.now()
  if (flags.finish === true) {
    if (flags.keepOld !== undefined || flags.secretFile !== undefined) {
      throw new OperatorError(
        'Usage',
        '--finish makes no secret: leave out --keep-old and --secret-file',
      )
    }
    await withDesk(context, flags, async (desk) => {
      await changeKeys(desk, (keys) => finishRotation(keys, name, nowMs))
      tell(`the old secret of key ${name} has ended`)
    })
    return
  }
  const keepMs = keepMsOf(flags.keepOld)
  await withDesk(context, flags, async (desk) => {
    const { record } = await giveOut(desk, flags, (keys) =>
      rotateKey(keys, name, { nowMs, keepMs }),
    )
    const endsAt = record.secrets[1]?.endsAt
    const old = endsAt === undefined ? 'has ended' : `lives until ${endsAt}, or until --finish`
    tell(`key ${name} has a new secret, which is not shown again; the old one ${old}`)
  })
}

async function revoke(context: CommandContext, name: string, flags: KeyFlags): Promise<void> {
  await withDesk(context, flags, async (desk) => {
    await changeKeys(desk, (keys) => revokeKey(keys, name, Date.now()))
    print(`key ${name} is revoked`)
  })
}

async function certify(
  context: CommandContext,
  name: string,
  files: readonly string[],
  flags: KeyFlags,
): Promise<void> {
  if (files.length > limits.keyCertificateCount) {
    throw new OperatorError(
      'Usage',
      `a key has at most ${limits.keyCertificateCount} certificates, and ${files.length} are named: leave ` +
        'some out, or make another key',
    )
  }
  const certificates = [...new Set(files.map(certificateIn))]
  await withDesk(context, flags, async (desk) => {
    await changeKeys(desk, (keys) => certifyKey(keys, name, certificates, Date.now()))
    print(`key ${name} has ${certificates.length} certificates`)
  })
}

/** The place for the secret is found before there is one, so that none is made and lost. */
async function giveOut(
  desk: StoreDesk,
  { secretFile }: KeyFlags,
  make: (keys: KeyChanger) => NewSecret,
): Promise<NewSecret> {
  const output = secretOutput(secretFile)
  try {
    const made = await desk.changeKeys(make).catch((fault: OperatorError) => {
      if (fault.code !== 'Failed') throw fault
      throw new OperatorError('Failed', `${fault.message}. ${LOST}`, { cause: fault })
    })
    output.write(made.text)
    await desk.untilKeysTaken()
    return made
  } finally {
    output.close()
  }
}

const LOST =
  'No secret is given out. If `hickory keys list` shows one that was made now, nobody has it: revoke the key and make ' +
  'another one, and do not end its old secret with --finish'

async function changeKeys(desk: StoreDesk, make: (keys: KeyChanger) => unknown): Promise<void> {
  await desk.changeKeys(make)
  await desk.untilKeysTaken()
}

async function withDesk(
  context: CommandContext,
  { data }: KeyFlags,
  use: (desk: StoreDesk) => Promise<void>,
): Promise<void> {
  const dataDirectory = context.dataDirectory(data)
  assertThere(dataDirectory)
  const desk = await openStoreDesk(context, dataDirectory)
  try {
    await use(desk)
  } finally {
    await desk.close()
  }
}

async function withStore(
  context: CommandContext,
  { data }: KeyFlags,
  use: (store: MainStore) => Promise<void>,
): Promise<void> {
  const dataDirectory = context.dataDirectory(data)
  assertThere(dataDirectory)
  const store = await createStore(dataDirectory, context.log)
  try {
    await use(store)
  } finally {
    await store.close()
  }
}
