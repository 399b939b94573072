/**
 * The key that a client sends: `Authorization: Bearer KEY`, or Basic with the key as the password of any user
 * (RFC 6750, RFC 7617). Never in the address, which proxies, browsers and logs keep.
 *
 * @module
 */

/** @returns undefined where the header holds no key in either form */
export function keyTextOf(authorization: string): string | undefined {
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

/** Whether it is of the kind that browsers keep, and send again by themselves. */
export function isBasic(authorization: string): boolean {
  return /^basic /i.test(authorization)
}

/** Whether a text has something that looks like a key. */
export function holdsKey(text: string): boolean {
  return /hk(_|%5f)[0-9a-z]{10}(_|%5f)[0-9A-Za-z]{10}/i.test(text)
}
