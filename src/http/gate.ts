/**
 * The gate in front of every operation. It refuses a request by its route and headers alone, before a
 * byte of the body is taken. It checks, in this order:
 *
 * 1. framing: is it certain where the request ends? (asked before the route is known)
 * 2. the operation: does it exist, with this verb? does the client expect nothing unknown of it?
 * 3. room: can the service take more work?
 * 4. the client: whose key has it, where keys are asked for; may this page read answers, may this client
 *    write, and can it be answered in the form that it asks for?
 *
 * A form may name another verb than the verb of its request. If that could change the operation, what
 * depends on that in step 4 follows after the form has been read (`HttpRequest.admit`).
 *
 * @module
 */
import { OVERLOADED, ServiceError } from '../errors.js'
import type { Operation } from '../interface/operation.js'
import { operations } from '../interface/operations.js'
import { type Access, OPEN_ACCESS } from '../selection/access.js'
import { isBasic, type KeyGuard } from './authenticate.js'
import { type CorsOrigins, foreignScriptFault } from './cors.js'
import type { CallCheck, HttpRequest, OperationCall } from './request.js'
import type { RouteMatch } from './router.js'

/** Who may do what. */
export interface Admission {
  /** Asks for keys. Undefined is an open service, in which programs on this machine may write. */
  readonly keys: KeyGuard | undefined
  /** Whether anything that is stored may be changed over HTTP. */
  readonly takesWrites: boolean
  /** The origin under which clients know the service, if that is known. */
  readonly publicOrigin: string | undefined
}

/** An open service, which asks for no keys. */
export const OPEN_ADMISSION: Admission = {
  keys: undefined,
  takesWrites: true,
  publicOrigin: undefined,
}

interface GateOptions {
  readonly admission: Admission
  readonly corsOrigins: CorsOrigins
  /** True while there is no room for work with a body of so many bytes. */
  readonly isFull: (bodyBytes: number) => boolean
}

export class Gate implements CallCheck {
  readonly #admission: Admission
  readonly #corsOrigins: CorsOrigins
  readonly #isFull: (bodyBytes: number) => boolean

  constructor({ admission, corsOrigins, isFull }: GateOptions) {
    this.#admission = admission
    this.#corsOrigins = corsOrigins
    this.#isFull = isFull
  }

  /**
   * Why a request gets no further, steps 2 to 4; undefined when it may.
   *
   * @throws ServiceError  as the route does that does not know the operation
   */
  refusalOf(request: HttpRequest, route: RouteMatch<unknown>): ServiceError | undefined {
    if (request.expectsUnknown) {
      return new ServiceError('ExpectationFailed', 'the only Expect that is met is 100-continue')
    }
    const { keys } = this.#admission
    if (!route.isWork) {
      if (keys !== undefined) request.access = keys.accessOf(request)
      return undefined
    }
    const call = route.callOf?.(request)
    request.call = call
    if (this.#isFull(request.declaredBytes)) return OVERLOADED
    const keyFault = keys?.admit(request)
    if (keyFault !== undefined) return keyFault
    if (request.options.callback !== undefined) {
      const fault = this.#scriptFault(request)
      if (fault !== undefined) return fault
    }
    return call === undefined ? undefined : this.callFault(request, call)
  }

  callFault(request: HttpRequest, { name }: OperationCall): ServiceError | undefined {
    const operation: Operation = operations[name]
    return (
      this.#scopeFault(request, operation) ??
      this.#writeFault(request, operation) ??
      conditionFault(request, operation) ??
      formFault(request, operation, name)
    )
  }

  lacksScope({ access }: HttpRequest): void {
    this.#admission.keys?.refused('scope', access)
  }

  accessNow(request: HttpRequest): Access {
    const { keys } = this.#admission
    return keys === undefined ? OPEN_ACCESS : keys.accessOf(request)
  }

  /** Whether a browser may have shown a key of its own accord. */
  #hasAmbientKey(request: HttpRequest): boolean {
    return this.#admission.keys !== undefined && isAmbient(request)
  }

  /** Why no page may run the answer as a script. */
  #scriptFault(request: HttpRequest): ServiceError | undefined {
    // A browser that does not say whose page asks may have added the credentials for a foreign one.
    const isSaid = request.header('sec-fetch-site') !== undefined
    if (!isSaid && this.#hasAmbientKey(request)) {
      return new ServiceError('Forbidden', UNSAID, 'callback')
    }
    return foreignScriptFault(request, this.#corsOrigins)
  }

  #scopeFault(request: HttpRequest, { scopes }: Operation): ServiceError | undefined {
    if (scopes.some((scope) => request.access.allows(scope))) return undefined
    this.lacksScope(request)
    return forbidden(`this key does not have the scope ${scopes.join(' or ')}`)
  }

  #writeFault(request: HttpRequest, { isWrite }: Operation): ServiceError | undefined {
    if (!isWrite) return undefined
    const { takesWrites, keys, publicOrigin } = this.#admission
    if (!takesWrites) return forbidden('this service takes no changes over HTTP (--writes off)')
    const origins = this.#corsOrigins
    if (keys === undefined) return foreignWriteFault(request, origins)
    const isOwnPage = publicOrigin !== undefined && request.header('origin') === publicOrigin
    return isAmbient(request) && !isOwnPage ? foreignPageFault(request, origins) : undefined
  }
}

/**
 * Why it is not certain where a request ends; undefined when it is. Two servers in a row that disagree
 * on that take a part of one request for another one, which another client may have written. So the
 * connection must be closed, and nothing behind the request read.
 */
export function framingFault(request: HttpRequest): ServiceError | undefined {
  const coding = request.header('transfer-encoding')
  if (coding !== undefined) {
    if (request.lengthCount > 0) {
      return invalid('there is a Content-Length beside a Transfer-Encoding')
    }
    if (!/^chunked$/i.test(coding)) return new ServiceError('LengthRequired', OTHER_CODING)
    if (!request.mayHaveBody) return new ServiceError('LengthRequired', NO_CHUNKS)
  }
  if (request.lengthCount > 1) return invalid('there is more than one Content-Length header')
  if (request.hostCount > 1) return invalid('there is more than one Host header')
  const length = request.header('content-length')
  if (length !== undefined && !/^\d+$/.test(length)) return invalid('Content-Length is no number')
  return undefined
}

const OTHER_CODING =
  'a body is sent with a Content-Length, or with Transfer-Encoding: chunked alone'
const NO_CHUNKS = 'a request with this verb has no body in chunks'

function invalid(message: string): ServiceError {
  return new ServiceError('InvalidRequest', message)
}

/**
 * Why a client of an open service may not change what is stored; undefined when it may. Clients do
 * not authenticate there, so only programs on this machine may, and neither a proxy in front of them nor a page in a
 * browser may speak for others.
 */
function foreignWriteFault(request: HttpRequest, origins: CorsOrigins): ServiceError | undefined {
  if (!LOOPBACK.test(request.peerAddress))
    return forbidden('only programs on this machine may write')
  if (PROXY_HEADERS.some((name) => request.header(name) !== undefined)) {
    return forbidden('only programs on this machine may write, and this request was forwarded')
  }
  return foreignPageFault(request, origins)
}

/** Why a page of another origin may not write in the name of its viewer. */
function foreignPageFault(request: HttpRequest, origins: CorsOrigins): ServiceError | undefined {
  const origin = request.header('origin')
  if (origin !== undefined && !origins.includes(origin) && !isLocal(origin)) {
    return forbidden('pages of this origin may not write')
  }
  return undefined
}

/**
 * Why a change may not be made that is to depend on what is stored. ETags are weak, since they tell of counts, too:
 * by RFC 9110, 13.1.1, none matches. To pass over the header would overwrite what the client wants to keep.
 */
function conditionFault(request: HttpRequest, { isWrite }: Operation): ServiceError | undefined {
  const condition = isWrite
    ? CONDITIONS.find((name) => request.header(name) !== undefined)
    : undefined
  if (condition === undefined) return undefined
  return new ServiceError(
    'PreconditionFailed',
    `no change can depend on what is stored: leave the header ${condition} out; POST creates and replaces nothing`,
  )
}

const CONDITIONS = ['if-match', 'if-none-match', 'if-unmodified-since'] as const

const UNSAID =
  'a script needs a browser that says whose page asks (Sec-Fetch-Site), or the key as Bearer'

/** Whether a browser may have added the credentials by itself, to a request of a page that knows no key. */
function isAmbient(request: HttpRequest): boolean {
  const sent = request.header('authorization')
  // Certificates are shown without being asked for, too.
  return sent === undefined || isBasic(sent)
}

/** Asked before anything is done: a write whose answer has no form must not happen. */
function formFault(
  { options }: HttpRequest,
  { hasFeatures = false, response }: Operation,
  name: string,
): ServiceError | undefined {
  if (hasFeatures || response === undefined || options.format !== 'geojson') return undefined
  const message = `${name} has no answer in GeoJSON; ask for json, csv or ndjson`
  return new ServiceError('NotAcceptable', message, 'format')
}

/** As the HTTP library writes addresses: IPv6 in full, IPv4 there as the last two groups. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|(0000:){5}(0000:0000:0001|ffff:7f[\da-f]{2}:[\da-f]{4}))$/i

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'] as const

/** A page that this machine serves. Not compared with Host, which a page can choose (DNS rebinding). */
function isLocal(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(origin)
}

function forbidden(why: string): ServiceError {
  return new ServiceError('Forbidden', why)
}
