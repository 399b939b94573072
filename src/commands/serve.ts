/**
 * `hickory serve`: serves the snapshot of a data directory over HTTP. This file has its flags and its
 * output. The service itself is in src/serve.
 *
 * @module
 */
import { Command, Option } from 'commander'
import { type Config, type Flags, ownMisspeltVariables, readConfig } from '../config.js'
import { createLog, type Log, logLevels } from '../log.js'
import type { LoadingProgress } from '../serve/load.js'
import { type ReadyService, runService } from '../serve/service.js'
import { recipientCountOf } from '../snapshot/snapshot.js'
import { exampleRequest } from './example-request.js'
import { assertNoFile } from './existing-directory.js'
import { type Progress, print, startProgress } from './output.js'
import { makeSample, needsSample } from './sample.js'

export function serveCommand(): Command {
  return new Command('serve')
    .description('answer requests over HTTP: who is inside a shape?')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--host <ADDRESS>', 'address to listen on (HICKORY_HOST; default 127.0.0.1)')
    .option('--port <PORT>', 'port to listen on, 0 for any free port (HICKORY_PORT; default 8080)')
    .option(
      '--share-port',
      'let a second process of the same data directory listen on the same port (HICKORY_SHARE_PORT)',
    )
    .option('--tls-cert <FILE>', 'speak TLS, with this certificate in PEM (HICKORY_TLS_CERT)')
    .option('--tls-key <FILE>', 'the key of the certificate, in PEM (HICKORY_TLS_KEY)')
    .option(
      '--tls-client-ca <FILE>',
      'authorities whose client certificates are taken, in PEM (HICKORY_TLS_CLIENT_CA)',
    )
    .addOption(
      oneOf(
        '--tls-client-certs <WHETHER>',
        'whether clients show certificates (HICKORY_TLS_CLIENT_CERTS; default required with --tls-client-ca)',
        ['off', 'optional', 'required'],
      ),
    )
    .option(
      '--http-engine <NAME>',
      'HTTP library: uws (fast), node (for every Node.js), or auto (HICKORY_HTTP_ENGINE; default auto)',
    )
    .option('--http-threads <N>', 'threads that speak HTTP (HICKORY_HTTP_THREADS)')
    .option('--query-threads <N>', 'query workers, over all HTTP threads (HICKORY_QUERY_THREADS)')
    .option(
      '--clip-recipients-to-boundary',
      'count and list nobody beyond the boundary of the map configuration (HICKORY_CLIP_RECIPIENTS_TO_BOUNDARY)',
    )
    .option('--cors-origins <LIST>', 'origins whose pages may read answers (HICKORY_CORS_ORIGINS)')
    .addOption(
      oneOf(
        '--unknown-members <WHAT>',
        'what to do about members of a request that nobody knows: refuse it, or warn in the answer ' +
          '(HICKORY_UNKNOWN_MEMBERS; default refuse)',
        ['refuse', 'warn'],
      ),
    )
    .option('--keys', 'let in who has a key, see `hickory keys` (HICKORY_KEYS)')
    .option('--open', 'let in everybody who reaches the address, without a key (HICKORY_OPEN)')
    .option('--writes <on|off>', 'off refuses all changes over HTTP (HICKORY_WRITES; default on)')
    .option('--public-url <URL>', 'address that descriptions tell clients (HICKORY_PUBLIC_URL)')
    .option(
      '--admin-port <PORT>',
      'port for metrics, state and profiles, 0 for any free port (HICKORY_ADMIN_PORT; default none)',
    )
    .option(
      '--admin-host <ADDRESS>',
      'address of this machine to listen on for these (HICKORY_ADMIN_HOST; default 127.0.0.1)',
    )
    .option('--audit <DIR>', 'record who lists and changes what, in this directory (HICKORY_AUDIT)')
    .option('--audit-counts', 'record counts, too (HICKORY_AUDIT_COUNTS)')
    .option(
      '--audit-digests <on|off>',
      'off makes no digests of lists, so that long ones are sent faster (HICKORY_AUDIT_DIGESTS; default on)',
    )
    .option(
      '--audit-keep-days <N>',
      'remove older files of the audit (HICKORY_AUDIT_KEEP_DAYS; default never)',
    )
    .option(
      '--access-log <FILE>',
      'a line for each request, - for standard output (HICKORY_ACCESS_LOG)',
    )
    .option(
      '--access-log-sample <N>',
      'of the requests that are neither errors, changes, lists nor slow, 1 in N ' +
        '(HICKORY_ACCESS_LOG_SAMPLE; default 100)',
    )
    .option('--access-log-slow-ms <MS>', 'what is slow (HICKORY_ACCESS_LOG_SLOW_MS; default 1000)')
    .addOption(
      oneOf(
        '--log-level <LEVEL>',
        'the least that is logged (HICKORY_LOG_LEVEL; default info)',
        logLevels,
      ),
    )
    .option(
      '--cluster <URLS>',
      'be a machine of a cluster: NATS servers such as nats://10.0.0.1:4222, the nearest first, separated by commas (HICKORY_CLUSTER)',
    )
    .option('--name <NAME>', 'what this machine is called in the cluster (HICKORY_NAME)')
    .option(
      '--cluster-id <ID>',
      'which of the clusters of these servers (HICKORY_CLUSTER_ID; default main)',
    )
    .option(
      '--cluster-credentials <FILE>',
      'credentials of NATS, a JWT and a seed (HICKORY_CLUSTER_CREDENTIALS)',
    )
    .option('--cluster-nkey <FILE>', 'seed of an nkey of NATS (HICKORY_CLUSTER_NKEY)')
    .option('--cluster-tls-ca <FILE>', 'authorities of NATS, in PEM (HICKORY_CLUSTER_TLS_CA)')
    .option('--cluster-tls-cert <FILE>', 'certificate for NATS, in PEM (HICKORY_CLUSTER_TLS_CERT)')
    .option('--cluster-tls-key <FILE>', 'its key, in PEM (HICKORY_CLUSTER_TLS_KEY)')
    .option(
      '--nats-monitor <URLS>',
      'monitors of the NATS servers, which say that they sync, separated by commas; port 8222 of the server that the ' +
        'machine is connected to is asked, too (HICKORY_NATS_MONITOR; default http://127.0.0.1:8222)',
    )
    .option(
      '--max-lag <SECONDS>',
      'how long a machine is ready that does not hear from the log; at least 15 (HICKORY_MAX_LAG; default 60)',
    )
    .addOption(
      oneOf(
        '--lagging-lists <WHAT>',
        'what becomes of lists then: serve them with a warning, or refuse them (HICKORY_LAGGING_LISTS; default serve)',
        ['serve', 'refuse'],
      ),
    )
    .option(
      '--copies <N>',
      'how many machines hold each shard in memory, from the next snapshot on; all unless given (HICKORY_COPIES)',
    )
    .option('--config <FILE>', 'JSON file with the same settings (HICKORY_CONFIG)')
    .option('--sample', 'make sample data first if the data directory is empty')
    .option('--journal-file-bytes <N>', 'begin the next file of the journal here, for tests only')
    .option('--crash-query-worker-ms <MS>', 'kill a query worker at this interval, for tests only')
    .option('--worker-args <ARGS>', 'options of Node.js for query workers, such as --cpu-prof')
    .addHelpText('after', HELP_TAIL)
    .action(serve)
}

/** The configuration checks the value, since it may also come from a variable or a file. */
function oneOf(flags: string, description: string, values: readonly string[]): Option {
  return Object.assign(new Option(flags, description), { argChoices: [...values] })
}

const HELP_TAIL = `
Without --keys and --open, the service answers this machine alone. A flag overrides its environment
variable, and the variable overrides the configuration file. On SIGTERM and SIGINT the service answers
the requests that it has, and stops. On SIGHUP it reads the certificate and the key of TLS again
and opens its access log anew.

Example:
  $ hickory import --data ./data/local --source 1 --label Residents recipients.csv
  $ hickory serve --data ./data/local --port 8080
`

/** What commander gives for flags that have no value. */
type Switches = { readonly [name in (typeof SWITCHES)[number] | 'sample']?: never }

/** Settings whose flag says that they are true. */
const SWITCHES = ['sharePort', 'clipRecipientsToBoundary', 'keys', 'open', 'auditCounts'] as const

async function serve({ sample, ...values }: Flags & Switches): Promise<void> {
  const switched = SWITCHES.filter((name) => values[name] !== undefined)
  const config = readConfig({
    ...values,
    ...Object.fromEntries(switched.map((name) => [name, 'true'])),
  })
  const dataDirectory = assertNoFile(config.dataDirectory)
  const log = createLog(config.logLevel)
  for (const { variable, meant } of ownMisspeltVariables()) {
    const advice =
      meant === undefined ? 'is no setting any more' : `is no setting: do you mean ${meant}?`
    log.warn({ variable }, `${variable} ${advice}`)
  }
  await runService({
    config,
    log,
    async prepare(goOn) {
      if (sample === true && needsSample(dataDirectory)) await makeSample(dataDirectory, log, goOn)
    },
    loading: loadingProgress(log),
    onReady: (service) => announce(config, service),
  })
}

function loadingProgress(log: Log): LoadingProgress {
  let progress: Progress | undefined
  return {
    update(doneBytes, totalBytes) {
      progress ??= startProgress(log, 'loading the snapshot', totalBytes, 'bytes')
      progress.update(doneBytes)
    },
    stop: () => progress?.stop(),
  }
}

function announce(
  { host, tls, asksForKeys }: Config,
  { port, snapshot, store }: ReadyService,
): void {
  const recipients = recipientCountOf(snapshot.sources)
  const scheme = tls === undefined ? 'http' : 'https'
  const addressOf = (host: string) =>
    `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
  const people = counted(recipients, 'recipient')
  const sources = counted(snapshot.sources.length, 'source')
  print(`Hickory serves ${people} of ${sources} at ${addressOf(host)}`)
  print(`(snapshot ${snapshot.id}). Try:`)
  print()
  const body = JSON.stringify(exampleRequest(snapshot, store))
  const key = asksForKeys ? `-H "Authorization: Bearer $KEY" ` : ''
  // Who signed the certificate, and for which name, is not known here.
  const authority = tls === undefined ? '' : ' --cacert "$CA"'
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const url = `${addressOf(isEverywhere ? 'localhost' : host)}/api/recipients`
  print(`curl -s ${key}${url} -H 'Content-Type: application/json' -d '${body}'${authority}`)
  print()
}
