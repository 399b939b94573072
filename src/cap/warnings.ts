/**
 * What whoever sends an alert should know of its selection. Each code is told once, for the first place where it
 * is so.
 *
 * @module
 */
import type { capWarningCodes } from '../interface/cap-warnings.js'

type CapWarningCode = keyof typeof capWarningCodes

export interface CapWarning {
  readonly code: CapWarningCode
  readonly message: string
  readonly path: string
}

export class CapWarnings {
  readonly #first = new Map<string, { warning: CapWarning; others: number }>()

  /** @param problem  continues the path, and is the same wherever the same is to be told */
  add(code: CapWarningCode, path: string, problem: string): void {
    const key = `${code} ${problem}`
    const known = this.#first.get(key)
    if (known !== undefined) known.others++
    else this.#first.set(key, { warning: { code, message: `${path} ${problem}`, path }, others: 0 })
  }

  list(): readonly CapWarning[] {
    return [...this.#first.values()].map(({ warning, others }) =>
      others === 0 ? warning : { ...warning, message: `${warning.message} (and ${others} more)` },
    )
  }
}
