/**
 * Finds out whose key a request has, before anything is done for it.
 *
 * A header that was right once is known by its text until any key changes, so that a request costs no
 * hash. Who sends wrong keys is slowed by address. A right key passes in any case, since clients behind a
 * proxy have one address with whoever guesses there.
 *
 * @module
 */
import { ServiceError, TooManyRequests } from '../errors.js'
import { keyIdOf } from '../keys/key-record.js'
import type { FollowedKeys, KeyAccess, KeyRing, Verdict } from '../keys/key-ring.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { KeyRefusal } from '../metrics/table.js'
import { type Access, NO_ACCESS } from '../selection/access.js'
import { holdsKey, keyTextOf } from './credentials.js'
import { Guessers } from './guessers.js'
import { RefusalLog } from './refusal-log.js'
import type { IncomingRequest } from './request.js'

interface KeyGuardOptions {
  readonly keys: Pick<FollowedKeys, 'ring'>
  readonly log: Log
  /** Told of each request that is refused for its key; nobody is unless given. */
  readonly onRefused?: (why: KeyRefusal) => void
}

type Accepted = Extract<Verdict, { access: KeyAccess }>

export class KeyGuard {
  readonly #keys: KeyGuardOptions['keys']
  readonly #onRefused: (why: KeyRefusal) => void
  readonly #log: RefusalLog
  readonly #guessers = new Guessers()
  /** The ring by which headers are known. */
  #ring: KeyRing
  /** What was right, by the text of the header. */
  readonly #known = new Map<string, Accepted>()

  constructor({ keys, log, onRefused = () => {} }: KeyGuardOptions) {
    this.#keys = keys
    this.#onRefused = onRefused
    this.#log = new RefusalLog(log)
    this.#ring = keys.ring
  }

  /** Gives a request the access of its key. Returns why it gets no further; undefined when it may go on. */
  admit(request: IncomingRequest): ServiceError | undefined {
    const access = this.#identify(request)
    if (access instanceof ServiceError) return access
    request.access = access
    const early = access.takeRequest()
    if (early !== undefined) this.refused('rate', access)
    return early
  }

  /** The access of the key that a request has, or of nobody. For what everybody may ask, more or less of it. */
  accessOf(request: IncomingRequest): Access {
    const hasNothing =
      request.header('authorization') === undefined && request.clientCertificate === undefined
    if (hasNothing) return NO_ACCESS
    const access = this.#identify(request)
    return access instanceof ServiceError ? NO_ACCESS : access
  }

  /** To be told of every request that is refused for what its key may. */
  refused(why: KeyRefusal, key?: { readonly keyName?: string | undefined }): void {
    this.#onRefused(why)
    this.#log.note(why, key?.keyName)
  }

  #identify(request: IncomingRequest): KeyAccess | ServiceError {
    if (request.holdsInQuery(holdsKey)) {
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
    return this.#look(sent, request, nowMs)
  }

  /** Who sends no key may have shown a certificate that stands for one. */
  #certified({ clientCertificate }: IncomingRequest): KeyAccess | ServiceError {
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

  #look(sent: string, request: IncomingRequest, nowMs: number): KeyAccess | ServiceError {
    this.#known.delete(sent)
    const text = keyTextOf(sent) ?? ''
    const address = request.peerAddress
    const waitMs = this.#guessers.waitMs(address, nowMs)
    // Somebody who guesses knows no id. Whoever has a key sends one that is there.
    if (waitMs > 0 && !this.#ring.has(keyIdOf(text) ?? '')) return this.#slow(waitMs)
    const verdict = this.#ring.verdictOf(text, nowMs)
    if ('access' in verdict) {
      // Clients send the same, so that starting anew costs nothing.
      if (this.#known.size === limits.knownCredentialCount) this.#known.clear()
      this.#known.set(sent, verdict)
      verdict.access.used(verdict.place, nowMs)
      return verdict.access
    }
    if (waitMs > 0) return this.#slow(waitMs)
    this.#guessers.note(address, nowMs)
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

/** Whatever is wrong with it. */
const INVALID = new ServiceError('Unauthorized', 'this key is not valid')

const IN_QUERY =
  'there is a key in the address, where proxies and logs keep it: send it as Authorization: Bearer KEY, ' +
  'and give it another secret (hickory keys rotate)'
