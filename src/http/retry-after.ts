/**
 * When a client that was refused may come again.
 *
 * @module
 */

/** 1 to 3 seconds, at random, so that clients that were refused together do not return together. */
export function retryAfterSeconds(): string {
  return choices[Math.floor(Math.random() * choices.length)]
}

const choices = ['1', '2', '3'] as const
