/**
 * JSONP: an answer as a script that hands it to a function of the page.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Body } from './answer.js'
import { enclosed } from './enclosed.js'
import { queryValue } from './negotiate.js'

export const JSONP_CONTENT_TYPE = 'text/javascript'

/**
 * The function that `callback` names; undefined where it is absent or empty. Signs by which the script
 * could do more than call it become underscores.
 *
 * @throws ServiceError  InvalidRequest, when no script could call it by that name
 */
export function callbackOf(query: URLSearchParams): string | undefined {
  const name = queryValue(query, 'callback')
  if (name === undefined) return undefined
  if (name.length > limits.callbackCharCount) {
    refuse(`has more than ${limits.callbackCharCount} characters`)
  }
  const callback = name.replace(/[^A-Za-z0-9._]/g, '_')
  if (!NAMES.test(callback)) refuse('must be a name of JavaScript, or several with dots between')
  return callback
}

/** Puts a JSON body into a call. No semicolon follows, as clients of ServiceStack know it. */
export function jsonp(callback: string, body: string): string
export function jsonp(callback: string, body: Body): Body
export function jsonp(callback: string, body: Body): Body {
  return enclosed(`${callback}(`, body, ')')
}

const NAMES = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/

function refuse(problem: string): never {
  throw new ServiceError('InvalidRequest', `callback ${problem}`, 'callback')
}
