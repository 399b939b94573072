/**
 * Authenticates a request by its key, before anything is done for it: `Authorization: Bearer KEY`, or Basic with the key as
 * the password of any user (RFC 6750, RFC 7617). Keys in the address are refused: proxies, browsers and logs keep it.
 *
 * A header that was right once is known by its text until any key changes, so that a request costs no hash. Addresses
 * that send wrong keys are slowed. A right key passes in any case, since clients behind a proxy have one address with
 * a guesser there.
 *
 * @module
 */
import { ServiceError, TooManyRequests } from '../errors.js'
import { keyIdOf } from '../keys/key-record.js'
import type { FollowedKeys, KeyAccess, KeyRing, Verdict } from '../keys/key-ring.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type MetricSlots, slotOf } from '../metrics/memory.js'
import { type KeyRefusal, keyRefusals } from '../metrics/table.js'
import { type Access, NO_ACCESS } from '../selection/access.js'
import type { HttpRequest } from './request.js'

interface KeyGuardOptions {
  readonly keys: Pick<FollowedKeys, 'ring'>
  readonly log: Log
  /** The metrics of this thread. */
  readonly page: MetricSlots
}

type Accepted = Extract<Verdict, { access: KeyAccess }>

export class KeyGuard {
  readonly #keys: KeyGuardOptions['keys']
  readonly #page: MetricSlots
  readonly #log: RefusalLog
  readonly #limiter = new FailedKeyLimiter()
  /** The keys by which the headers of `#known` were right. */
  #ring: KeyRing
  /** Right keys, by the text of the header. */
  readonly #known = new Map<string, Accepted>()

  constructor({ keys, log, page }: KeyGuardOptions) {
    this.#keys = keys
    this.#page = page
    this.#log = new RefusalLog(log)
    this.#ring = keys.ring
  }

  /** Gives a request the permissions of its key. Returns why it is refused; undefined when it may go on. */
  admit(request: HttpRequest): ServiceError | undefined {
    const access = this.#identify(request)
    if (access instanceof ServiceError) return access
    request.access = access
    const early = access.takeRequest()
    if (early !== undefined) this.refused('rate', access)
    return early
  }

  /** The client's permissions; no permissions if it sent no right key. For routes that everyone may ask. */
  accessOf(request: HttpRequest): Access {
    const hasNothing =
      request.header('authorization') === undefined && request.clientCertificate === undefined
    if (hasNothing) return NO_ACCESS
    const access = this.#identify(request)
    return access instanceof ServiceError ? NO_ACCESS : access
  }

  /** Counts and logs a request that is refused for its key. */
  refused(why: KeyRefusal, key?: { readonly keyName?: string | undefined }): void {
    this.#page[REFUSALS[why]]++
    this.#log.note(why, key?.keyName)
  }

  #identify(request: HttpRequest): KeyAccess | ServiceError {
    if (request.hasKeyInQuery) {
      this.refused('query')
      return new ServiceError('InvalidRequest', IN_QUERY)
    }
    const sent = request.header('authorization')
    if (sent === undefined) return this.#certified(request)
    const { ring } = this.#keys
    if (ring !== this.#ring) this.#known.clear()
    this.#ring = ring
    const nowMs = Date.now()
    const known = this.#known.get(sent)
    if (known !== undefined && nowMs < known.untilMs) {
      known.access.used(known.place, nowMs)
      return known.access
    }
    return this.#lookUp(sent, request, nowMs)
  }

  /** A client that sends no key may have shown a certificate that stands for one. */
  #certified({ clientCertificate }: HttpRequest): KeyAccess | ServiceError {
    const nowMs = Date.now()
    const verdict =
      clientCertificate === undefined
        ? undefined
        : this.#keys.ring.verdictOfCertificate(clientCertificate, nowMs)
    if (verdict === undefined) {
      this.refused('missing')
      return MISSING
    }
    if ('access' in verdict) {
      verdict.access.used(verdict.place, nowMs)
      return verdict.access
    }
    this.refused(verdict.rejection, verdict)
    return INVALID
  }

  #lookUp(sent: string, request: HttpRequest, nowMs: number): KeyAccess | ServiceError {
    this.#known.delete(sent)
    const text = keyTextOf(sent) ?? ''
    const address = request.peerAddress
    const waitMs = this.#limiter.waitMs(address, nowMs)
    // A guesser knows no id of a key. A client that has a key sends one that exists.
    if (waitMs > 0 && !this.#ring.has(keyIdOf(text) ?? '')) return this.#slow(waitMs)
    const verdict = this.#ring.verdictOf(text, nowMs)
    if ('access' in verdict) {
      // Clients send the same headers again, so that clearing all costs little.
      if (this.#known.size === limits.knownCredentialCount) this.#known.clear()
      this.#known.set(sent, verdict)
      verdict.access.used(verdict.place, nowMs)
      return verdict.access
    }
    if (waitMs > 0) return this.#slow(waitMs)
    this.#limiter.failed(address, nowMs)
    this.refused(verdict.rejection, verdict)
    return INVALID
  }

  #slow(waitMs: number): ServiceError {
    this.refused('slowed')
    return new TooManyRequests('wrong keys came from this address; look at the key', waitMs)
  }
}

const MISSING = new ServiceError(
  'Unauthorized',
  'this service asks for a key: send Authorization: Bearer KEY, or Basic with the key as password',
)

/** The same for every fault of a key. */
const INVALID = new ServiceError('Unauthorized', 'this key is not valid')

const IN_QUERY =
  'there is a key in the address, where proxies and logs keep it: send it as Authorization: Bearer KEY, ' +
  'and give it another secret (hickory keys rotate)'

/**
 * Why a request is refused. `missing`: it has no key; `slowed`: its address sends wrong ones; `query`: there is a key in
 * its address; `scope`: the key lacks the scope; `rate`: it asks too often; for the others see `Verdict`.
 */
const REFUSALS = Object.fromEntries(
  keyRefusals.map((why) => [why, slotOf('hickory_keys_refused_total', why)]),
) as Readonly<Record<KeyRefusal, number>>

/** @returns undefined where the header holds no key in either form */
function keyTextOf(authorization: string): string | undefined {
  const [, scheme = '', credentials = ''] = /^([A-Za-z]+) +(\S+) *$/.exec(authorization) ?? []
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return credentials
    case 'basic': {
      const decoded = Buffer.from(credentials, 'base64').toString('latin1')
      const colon = decoded.indexOf(':')
      // Clients that have one field for both send the key as the user.
      return colon < 0 || colon === decoded.length - 1
        ? decoded.slice(0, colon < 0 ? undefined : colon)
        : decoded.slice(colon + 1)
    }
    default:
      return undefined
  }
}

/** Whether browsers keep such a header, and send it again by themselves. */
export function isBasic(authorization: string): boolean {
  return /^basic /i.test(authorization)
}

/**
 * Limits wrong keys by address, least recently failed first out. Each address may send some at once, and then one in a
 * while.
 */
class FailedKeyLimiter {
  /** When the next wrong key of an address would be due, if all came evenly; the oldest address first. */
  readonly #dueMs = new Map<string, number>()

  /** How long an address must wait before another unknown key of it is looked up; 0 is not at all. */
  waitMs(address: string, nowMs: number): number {
    const dueMs = this.#dueMs.get(networkOf(address))
    if (dueMs === undefined) return 0
    return Math.min(Math.max(0, dueMs - nowMs - TOLERANCE_MS), limits.keyGuessMs)
  }

  failed(address: string, nowMs: number): void {
    const network = networkOf(address)
    const dueMs = Math.max(this.#dueMs.get(network) ?? 0, nowMs) + limits.keyGuessMs
    // The map keeps the order in which addresses are set.
    this.#dueMs.delete(network)
    if (this.#dueMs.size === limits.keyGuesserCount) {
      for (const oldest of this.#dueMs.keys()) {
        this.#dueMs.delete(oldest)
        break
      }
    }
    this.#dueMs.set(network, dueMs)
  }
}

const TOLERANCE_MS = (limits.keyGuessCount - 1) * limits.keyGuessMs

/** An IPv6 client usually controls its whole /64. */
function networkOf(address: string): string {
  const isIpv6 = address.includes(':') && !/^(0000:){5}ffff:/i.test(address)
  return isIpv6 ? address.slice(0, FIRST_HALF) : address
}

/** As the HTTP library writes it: four groups of four digits. */
const FIRST_HALF = 19

/**
 * Logs requests that were refused for their keys: one line a second at most, with the counts of that second. No key is
 * in it, but the names of keys that were right and lacked the scope.
 */
class RefusalLog {
  readonly #log: Log
  readonly #counts = new Map<KeyRefusal, number>()
  readonly #keyNames = new Set<string>()
  #isDue = false

  constructor(log: Log) {
    this.#log = log
  }

  note(why: KeyRefusal, keyName: string | undefined): void {
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1)
    if (keyName !== undefined && this.#keyNames.size < limits.refusedKeysLoggedCount) {
      this.#keyNames.add(keyName)
    }
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => this.#write(), LINE_MS).unref()
  }

  #write(): void {
    const keyNames = [...this.#keyNames]
    this.#log.warn(
      { refused: Object.fromEntries(this.#counts), ...(keyNames.length > 0 && { keyNames }) },
      'requests were refused for their keys',
    )
    this.#counts.clear()
    this.#keyNames.clear()
    this.#isDue = false
  }
}

const LINE_MS = 1_000
