/**
 * What is wrong with an alert, one fault after the other: a service refuses the first, and whoever writes
 * alerts is told all of them.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { limits } from '../limits.js'

export class CapFaults {
  /** In the order in which they were found; of more than `capFaultCount` the first ones. */
  readonly list: ServiceError[] = []

  /** @param problem  continues the path, without a word of the alert */
  add(code: ServiceErrorCode, path: string, problem: string): void {
    if (this.list.length >= limits.capFaultCount) return
    this.list.push(new ServiceError(code, `${path} ${problem}`, path))
  }

  /** @throws ServiceError  the first one, if there is any */
  refuse(): void {
    if (this.list.length > 0) throw this.list[0]
  }
}
