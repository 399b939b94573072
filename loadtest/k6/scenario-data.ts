/**
 * What `npm run loadtest:data` writes and the scripts read: requests and their one right answer.
 *
 * @module
 */
export interface KnownCount {
  readonly body: string
  readonly answer: string
}

/** Lists are long, so that their answers are known by their digest. */
export interface KnownList {
  readonly body: string
  readonly answerBytes: number
  /** In hexadecimal digits. */
  readonly answerSha256: string
}

/** Names of the files in the directory that was written. */
export const COUNTS_FILE = 'counts.json'
export const LISTS_FILE = 'lists.json'

/** Every known request gets its turn, whoever asks. */
export function nextOf<Item>(items: readonly Item[], turn: number): Item {
  return items[turn % items.length]
}
