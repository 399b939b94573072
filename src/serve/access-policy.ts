/**
 * Access policy of a service, checked at its start: clients that have a key, every client because an operator says so, or
 * programs on this machine.
 *
 * @module
 */
import { lookup } from 'node:dns/promises'
import { isIPv4 } from 'node:net'
import type { Config } from '../config.js'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import type { KeyReader } from '../store/keys.js'

/**
 * Refuses to listen for other machines without a setting that says so.
 *
 * @throws OperatorError  Usage
 */
export async function refuseForeignAddress(
  { host, asksForKeys, isOpen }: Config,
  addressesOf: typeof addressesOfHost = addressesOfHost,
): Promise<void> {
  if (asksForKeys || isOpen) return
  // A name that is not known is refused by `listen`.
  const foreign = (await addressesOf(host)).find((address) => !isLoopback(address))
  if (foreign === undefined) return
  const address = foreign === host ? host : `${host} (${foreign})`
  throw new OperatorError(
    'Usage',
    `--host ${address} is reached by others than programs on this machine, and they would get every ` +
      'number: let in who has a key with --keys (`hickory keys create` makes one), let in everybody ' +
      'with --open, or listen on 127.0.0.1',
  )
}

/**
 * Says who is let in. Refuses to let in everybody where keys were made, unless that is meant.
 *
 * @throws OperatorError  Usage
 */
export function checkKeys({ asksForKeys, isOpen, host }: Config, keys: KeyReader, log: Log): void {
  const { size: keyCount } = keys.read().records
  if (asksForKeys) {
    if (keyCount > 0) return
    log.warn('there is no key yet, so that every request is refused: hickory keys create makes one')
  } else if (isOpen) {
    log.warn(
      { host, keyCount },
      'the service is open: every client that reaches it gets every number without a key',
    )
  } else if (keyCount > 0) {
    throw new OperatorError(
      'Usage',
      `the data directory has keys (${keyCount}), and this service would ask for none: add --keys to ask ` +
        'for them, or --open to let in everybody who reaches it',
    )
  }
}

async function addressesOfHost(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    return []
  }
}

function isLoopback(address: string): boolean {
  if (isIPv4(address)) return address.startsWith('127.')
  return address === '::1' || /^::ffff:127\./i.test(address)
}
