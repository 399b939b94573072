/**
 * What a run is told by `-e NAME=value`.
 *
 * @module
 */

/** The directory that `npm run loadtest:data` has written, as an absolute path. */
export const dataDirectory = required('HICKORY_LOAD_DATA')

export const recipientsUrl = `${text('HICKORY_URL', 'http://127.0.0.1:8080')}/api/recipients`

export const seconds = number('SECONDS', 30)
export const connectionCount = number('CONNECTIONS', 64)

/** What the service answers in a second in a closed loop: run counts first. */
export const peakPerSecond = number('PEAK', 5_000)

function text(name: string, otherwise: string): string {
  return __ENV[name] ?? otherwise
}

function number(name: string, otherwise: number): number {
  const value = Number(text(name, String(otherwise)))
  if (value > 0) return value
  throw new Error(`${name} must be a number above 0`)
}

function required(name: string): string {
  const value = __ENV[name]
  if (value?.startsWith('/')) return value
  throw new Error(`-e ${name}=DIR must be an absolute path, written by npm run loadtest:data`)
}
