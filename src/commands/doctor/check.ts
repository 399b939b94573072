/**
 * One check of `hickory doctor`, and what came of it.
 *
 * @module
 */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'failed'
  /** What was found. */
  readonly found: string
  /** What to do; absent where all is well. */
  readonly advice?: string
}

export interface Check {
  /** One or two words, for people and machines. */
  readonly name: string
  /** Changes nothing. What it throws is what is wrong. */
  look(): Finding | Promise<Finding>
}

/** What came of which check. */
export type Result = Finding & { readonly name: string }

export const ok = (found: string): Finding => ({ state: 'ok', found })

export const warning = (found: string, advice: string): Finding => ({
  state: 'warning',
  found,
  advice,
})

export const failed = (found: string, advice: string): Finding => ({
  state: 'failed',
  found,
  advice,
})
