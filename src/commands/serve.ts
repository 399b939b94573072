/**
 * `hickory serve`: serves the snapshot of a data directory over HTTP. Its flags are those of src/settings.ts; this
 * file has its output. The service itself is in src/serve.
 *
 * @module
 */
import { Command, Option } from 'commander'
import { type Config, ownMisspeltVariables, readConfig } from '../config.js'
import { createLog, type Log } from '../log.js'
import type { LoadingProgress } from '../serve/load.js'
import { type ReadyService, runService } from '../serve/service.js'
import { settingFlags } from '../settings.js'
import { recipientCountOf } from '../snapshot/snapshot.js'
import { exampleRequest } from './example-request.js'
import { assertNoFile } from './existing-directory.js'
import { type Progress, print, startProgress } from './output.js'
import { makeSample, needsSample } from './sample.js'

export function serveCommand(): Command {
  const command = new Command('serve').description(
    'answer requests over HTTP: who is inside a shape?',
  )
  for (const { flags, description, values } of settingFlags) {
    // The configuration checks the value, since it may also come from a variable or a file.
    const choices = values === undefined ? {} : { argChoices: [...values] }
    command.addOption(Object.assign(new Option(flags, description), choices))
  }
  return command
    .option('--config <FILE>', 'JSON file with the same settings (HICKORY_CONFIG)')
    .option('--sample', 'make sample data first if the data directory is empty')
    .addHelpText('after', HELP_TAIL)
    .action(serve)
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

/** @param given  by names of settings; true of a flag that has no value */
async function serve({
  sample,
  ...given
}: Readonly<Record<string, string | true | undefined>>): Promise<void> {
  const flags = Object.entries(given).map(([name, value]) => [
    name,
    value === true ? 'true' : value,
  ])
  const config = readConfig(Object.fromEntries(flags))
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
