/**
 * `hickory cluster`: the machines that serve one truth.
 *
 * @module
 */
import { Command } from 'commander'
import { leaveCluster, ofNoCluster } from '../../cluster/leave.js'
import { readState } from '../../cluster/state-file.js'
import type { CommandContext } from '../context.js'
import { assertThere } from '../existing-directory.js'
import { print } from '../output.js'
import { assertWrites } from './assert-writes.js'
import { move } from './move.js'
import { type ClusterFlags, withCluster } from './reach.js'
import { drain, promote, remove } from './roles.js'
import { showStatus } from './show-status.js'
import { verifyMachines } from './verify-machines.js'

export function clusterCommand(context: CommandContext): Command {
  const command = new Command('cluster')
    .description('look at the machines of a cluster, and say what they do')
    .addHelpText('after', HELP_TAIL)
  reaching(command.command('status'))
    .description('show each machine: whether it writes, what it has, and by what it answers')
    .option('--json', 'print one JSON document')
    .addHelpText('after', STATUS_TAIL)
    .action((flags: ClusterFlags & { readonly json?: true }) =>
      withCluster(context, flags, (client) => showStatus(client, flags.json === true)),
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
  reaching(command.command('promote'))
    .description('let a machine write')
    .argument('<NAME>', 'the machine')
    .option(
      '--accept-loss',
      'although machines that do not answer may have changes that were acknowledged and that it lacks',
    )
    .addHelpText('after', PROMOTE_TAIL)
    .action((name: string, flags: ClusterFlags & { readonly acceptLoss?: true }) =>
      withCluster(context, flags, (client) => promote(client, name, flags.acceptLoss === true)),
    )
  reaching(command.command('drain'))
    .description('have a machine answer that it is not ready, and another one write')
    .argument('<NAME>', 'the machine')
    .option('--undo', 'have it be ready again')
    .addHelpText('after', DRAIN_TAIL)
    .action((name: string, flags: ClusterFlags & { readonly undo?: true }) =>
      withCluster(context, flags, (client) => drain(client, name, flags.undo !== true)),
    )
  reaching(command.command('remove'))
    .description('count the disk of a machine no more that does not come back')
    .argument('<NAME>', 'the machine')
    .addHelpText('after', REMOVE_TAIL)
    .action((name: string, flags: ClusterFlags) =>
      withCluster(context, flags, (client) => remove(client, name)),
    )
  command
    .command('move')
    .description('place the shards on the machines that are members now')
    .option(...DATA)
    .addHelpText('after', MOVE_TAIL)
    .action(async ({ data }: ClusterFlags) => {
      const dataDirectory = context.dataDirectory(data)
      assertThere(dataDirectory)
      if (readState(dataDirectory) === undefined) throw ofNoCluster(dataDirectory)
      await assertWrites(dataDirectory)
      await move(dataDirectory, context.log)
    })
  command
    .command('leave')
    .description('make a data directory one that is of no cluster, with what was committed')
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

const MOVE_TAIL = `
For a cluster with --copies, after a machine has come or is removed. It publishes the recipients once more, as an import
does, so that it is for the directory of the machine that writes. Every machine loads what it is to hold, then all switch,
and only then a machine lets go of what it held before.

Example:
  $ hickory cluster move --data /var/lib/hickory
`

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
  $ hickory cluster promote site-b --cluster nats://10.0.0.1:4222
`

const STATUS_TAIL = `
The command listens for a second and a half. It ends with exit code 1 if no machine writes, or a member is
not heard or not level: it lacks what was acknowledged, or cannot know.

Example:
  $ hickory cluster status --data ./data/local
`

const VERIFY_TAIL = `
The machine that writes notes a place in the journal, and each member says what it has there: the hash of the
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

const PROMOTE_TAIL = `
The machine that writes hands over when it answers. If it does not, most members must (with --acks 1: all of
them), so that nothing is lost that was acknowledged. With --accept-loss fewer are enough: what only the
others have is set aside on them when they come back.

Example:
  $ hickory cluster promote site-b --data ./data/local
`

const DRAIN_TAIL = `
A balancer that asks for /readyz then sends it nothing more, and what it has is answered. It goes on copying,
and its disk counts. A restart ends it, too. SIGTERM does all of it by itself, so that this is for whoever
wants to look at a machine while it is out of service.

Example:
  $ hickory cluster drain site-b --data ./data/local
`

const REMOVE_TAIL = `
Where a member is gone for good, the others need one vote less. A machine that is heard is refused: stop it
first, since it would ask to be counted again. Its directory must not come back; with an empty one it may.

Example:
  $ hickory cluster remove site-c --data ./data/local
`

const LEAVE_TAIL = `
For going back to one machine. Stop the service first, and remove the machine from the cluster if that goes
on. What was not committed is not kept.

Example:
  $ hickory cluster leave --data ./data/local
`
