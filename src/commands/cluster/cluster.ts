/**
 * `hickory cluster`: the machines that serve one truth.
 *
 * @module
 */
import { Command } from 'commander'
import { type ClusterClient, openClusterClient } from '../../cluster/client.js'
import { leaveCluster, ofNoCluster } from '../../cluster/leave.js'
import { type KnownConnection, readConnection, readState } from '../../cluster/state-file.js'
import { readClusterConnection } from '../../config.js'
import { OperatorError } from '../../errors.js'
import type { Log } from '../../log.js'
import { readCurrent } from '../../snapshot/directory.js'
import { beginSnapshot } from '../../snapshot/publish/begin.js'
import type { CommandContext } from '../context.js'
import { assertThere } from '../existing-directory.js'
import { lockData } from '../lock-data.js'
import { print } from '../output.js'
import { drain, remove, seedLog } from './orders.js'
import { assertServed, untilPublished } from './published.js'
import { showStatus } from './show-status.js'
import { verifyMachines } from './verify-machines.js'

export function clusterCommand(context: CommandContext): Command {
  const command = new Command('cluster')
    .description('look at the machines of a cluster, and say what they do')
    .addHelpText('after', HELP_TAIL)
  reaching(command.command('status'))
    .description('show the log, and each machine: what it has, and by what it answers')
    .option('--json', 'print one JSON document')
    .addHelpText('after', STATUS_TAIL)
    .action((flags: ClusterFlags & { readonly json?: true }) =>
      withCluster(context, flags, (client, own) => showStatus(client, own, flags.json === true)),
    )
  reaching(command.command('verify'))
    .description('compare what the machines have, at one place of their journal')
    .option('--json', 'print one JSON document')
    .addHelpText('after', VERIFY_TAIL)
    .action((flags: ClusterFlags & { readonly json?: true }) =>
      withCluster(context, flags, (client) =>
        verifyMachines(client, context.log, flags.json === true),
      ),
    )
  reaching(command.command('drain'))
    .description('have a machine answer that it is not ready')
    .argument('<NAME>', 'the machine')
    .option('--undo', 'have it be ready again')
    .addHelpText('after', DRAIN_TAIL)
    .action((name: string, flags: ClusterFlags & { readonly undo?: true }) =>
      withCluster(context, flags, (client) => drain(client, name, flags.undo !== true)),
    )
  reaching(command.command('remove'))
    .description('wait no more for a machine that does not come back')
    .argument('<NAME>', 'the machine')
    .addHelpText('after', REMOVE_TAIL)
    .action((name: string, flags: ClusterFlags) =>
      withCluster(context, flags, (client) => remove(client, name)),
    )
  reaching(command.command('seed-log'))
    .description('make the log anew from the journals of the machines, after NATS has lost it')
    .option('--without <NAME>', 'a member that is lost; may be said several times', collect, [])
    .addHelpText('after', SEED_LOG_TAIL)
    .action((flags: ClusterFlags & { readonly without: readonly string[] }) =>
      withCluster(context, flags, (client) => seedLog(client, flags.without)),
    )
  command
    .command('move')
    .description('place the shards on the machines that are members now')
    .option(...DATA)
    .addHelpText('after', MOVE_TAIL)
    .action(async ({ data }: ClusterFlags) => {
      const dataDirectory = context.dataDirectory(data)
      assertThere(dataDirectory)
      await move(dataDirectory, context.log)
    })
  command
    .command('leave')
    .description('make a data directory one that is of no cluster, with what is in its journal')
    .option(...DATA)
    .addHelpText('after', LEAVE_TAIL)
    .action(async ({ data }: ClusterFlags) => {
      const dataDirectory = context.dataDirectory(data)
      assertThere(dataDirectory)
      const sequence = await leaveCluster(dataDirectory, context.log)
      print(`${dataDirectory} is of no cluster any more; it has all changes up to ${sequence}`)
    })
  return command
}

/**
 * By a snapshot with the same content, which is placed as any other one: all machines load what they are to hold of it
 * before any of them lets go of what it held before.
 */
async function move(dataDirectory: string, log: Log): Promise<void> {
  if (readState(dataDirectory) === undefined) throw ofNoCluster(dataDirectory)
  await assertServed(dataDirectory)
  const snapshotId = await lockData(dataDirectory, async (lock) => {
    if ((await readCurrent(dataDirectory)) === undefined) {
      throw new OperatorError('SnapshotMissing', `there is no snapshot in ${dataDirectory}`)
    }
    const draft = await beginSnapshot(lock, { log })
    try {
      return (await draft.publish()).snapshotId
    } finally {
      await draft.discard()
    }
  })
  await untilPublished(dataDirectory, snapshotId)
  print(`${snapshotId} has the same recipients, and is placed on the machines that are members now`)
}

interface ClusterFlags {
  readonly data?: string
  readonly cluster?: string
  readonly clusterId?: string
  readonly clusterCredentials?: string
  readonly clusterNkey?: string
  readonly clusterTlsCa?: string
  readonly clusterTlsCert?: string
  readonly clusterTlsKey?: string
}

type Reached = Pick<KnownConnection, 'nats' | 'clusterId'> & { readonly name?: string }

/**
 * @param use  gets the name of the machine of the data directory, where that says how the cluster is reached
 * @throws OperatorError
 */
async function withCluster(
  context: CommandContext,
  { data, ...flags }: ClusterFlags,
  use: (client: ClusterClient, own: string | undefined) => Promise<void>,
): Promise<void> {
  const known: Reached | undefined =
    readClusterConnection(flags) ?? readConnection(context.dataDirectory(data))
  if (known === undefined) {
    throw new OperatorError(
      'Usage',
      `no service of a cluster has run on ${context.dataDirectory(data)}: name the data directory of one with --data, or ` +
        'NATS with --cluster nats://…',
    )
  }
  const client = await openClusterClient(known, 'operator')
  try {
    await use(client, known.name)
  } finally {
    await client.close()
  }
}

const MOVE_TAIL = `
For a cluster with --copies, after a machine has come or is removed. It publishes the recipients once more, as an import
does, so that it may run on any machine whose service runs. Every machine loads what it is to hold, then all switch, and only
then a machine lets go of what it held before.

Example:
  $ hickory cluster move --data /var/lib/hickory
`

const collect = (value: string, values: readonly string[]) => [...values, value]

const DATA = ['--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)'] as const

/** How a cluster is found: by the directory of one of its machines, or by what that was started with. */
function reaching(command: Command): Command {
  return command
    .option(...DATA)
    .option('--cluster <URLS>', 'NATS, if no machine of the cluster is here (HICKORY_CLUSTER)')
    .option('--cluster-id <ID>', 'which cluster (HICKORY_CLUSTER_ID; default main)')
    .option('--cluster-credentials <FILE>', 'credentials file (HICKORY_CLUSTER_CREDENTIALS)')
    .option('--cluster-nkey <FILE>', 'file with the seed of an nkey (HICKORY_CLUSTER_NKEY)')
    .option('--cluster-tls-ca <FILE>', 'authorities of the servers (HICKORY_CLUSTER_TLS_CA)')
    .option('--cluster-tls-cert <FILE>', 'own certificate (HICKORY_CLUSTER_TLS_CERT)')
    .option('--cluster-tls-key <FILE>', 'key of the certificate (HICKORY_CLUSTER_TLS_KEY)')
}

const HELP_TAIL = `
On a machine of the cluster, --data says how it is reached: its service has noted it there. Elsewhere say
--cluster and what the service was started with.

Examples:
  $ hickory cluster status --data ./data/local
  $ hickory cluster drain site-b --cluster nats://10.0.0.1:4222
`

const STATUS_TAIL = `
The command listens for a second and a half. It asks the machine of --data, or another one that is heard. It ends
with exit code 1 if that machine cannot write, if the log lacks messages, or if a member is not heard, does not go
on with the log, or is not level: it lacks what was acknowledged, or cannot know.

Example:
  $ hickory cluster status --data ./data/local
`

const VERIFY_TAIL = `
One machine notes a place in the journal, and each member says what it has there: the hash of the
journal, digests of suppressed numbers, keys, configuration and contexts, and of the recipients of each source
by region. Each reads all of that once more, in memory and in its store, and goes on answering: a second for
each few million recipients, with one processor. Changes may come meanwhile. With --copies a region is compared
among the machines that hold it, and one that fewer hold than are to is told.

What differs is printed, a line for each, as a count and the beginning of a digest. The command ends with exit
code 1 if something differs, or a member cannot be asked. Restart a machine that has something else than the
others: it then verifies what it has. If that does not help, start it with an empty directory.

Example:
  $ hickory cluster verify --data ./data/local
`

const DRAIN_TAIL = `
A balancer that asks for /readyz then sends it nothing more, and what it has is answered. It goes on following
the log. A restart ends it, too. SIGTERM does all of it by itself, so that this is for whoever
wants to look at a machine while it is out of service.

Example:
  $ hickory cluster drain site-b --data ./data/local
`

const REMOVE_TAIL = `
Where a member is gone for good, opt-outs and snapshots wait for it no more. A machine that is heard is refused:
stop it first, since it would join again. It may come back, with its directory or an empty one.

Example:
  $ hickory cluster remove site-c --data ./data/local
`

const SEED_LOG_TAIL = `
The log is kept by the servers of NATS. Use this command when they have lost it or a part of it, and cannot get it back:
hickory cluster status then says of machines that the log ends before what they have, that it is another one, or that
there is none. Where a single server has lost its disk, the other servers give it everything: do not use it then.

Start the services of all machines first. The machine with the longest journal makes the log anew from that, and the
others go on with it. Changes are refused meanwhile, and questions are answered. The command refuses if two machines
have different batches of one sequence, and if a member is not heard: only that one may have the last changes. What a
machine that is left out with --without has alone is lost; it does not go on, and says so, when it comes back with it.

Example:
  $ hickory cluster seed-log --data ./data/local
  $ hickory cluster seed-log --data ./data/local --without site-c
`

const LEAVE_TAIL = `
For going back to one machine. Stop the service first, and remove the machine from the cluster if that goes
on.

Example:
  $ hickory cluster leave --data ./data/local
`
