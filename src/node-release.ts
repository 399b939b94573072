/**
 * Which releases of Node.js Hickory runs on: those with long-term support, and what comes after them.
 *
 * @module
 */

const SUPPORTED = 'Node.js 22 (best), 20 (20.19 or later), and 24 or later'

/** The fault of a release such as `20.20.2`; undefined when it is supported. */
export function unsupportedRelease(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === 22 || major >= 24 || (major === 20 && minor >= 19)) return undefined
  return `Hickory runs on ${SUPPORTED}; this is Node.js ${version}.`
}
