/**
 * What may be wrong with a request that can be answered all the same, collected while it is read.
 *
 * @module
 */
import type { ServiceError } from '../errors.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import type { Warning, WarningCode } from '../interface/warnings.js'
import { limits } from '../limits.js'

/** So many warnings at most; the last one then says that there are more. */
export class Remarks {
  /** Undefined while there is none, as for nearly all requests. */
  warnings: Warning[] | undefined
  readonly #unknownMembers: UnknownMembers

  constructor(unknownMembers: UnknownMembers = 'refuse') {
    this.#unknownMembers = unknownMembers
  }

  /** False once there are so many that others are left out. */
  get hasRoom(): boolean {
    return this.warnings === undefined || this.warnings.length < limits.warningCount
  }

  add(code: WarningCode, message: string, path?: string): void {
    this.#push({ Code: code, Message: message, ...(path !== undefined && { Path: path }) })
  }

  #push(warning: Warning): void {
    this.warnings ??= []
    const { warnings } = this
    if (warnings.length < limits.warningCount - 1) warnings.push(warning)
    else if (warnings.length < limits.warningCount) {
      warnings.push({ Code: 'MoreWarnings', Message: 'more warnings are left out' })
    }
  }

  /** What a client must see, however many others there are. */
  addFirst(code: WarningCode, message: string): void {
    const { warnings: others = [] } = this
    this.warnings = undefined
    this.add(code, message)
    for (const other of others) this.#push(other)
  }

  /** As a function. */
  get onUnknown(): (fault: ServiceError) => void {
    return (fault) => this.unknown(fault)
  }

  /** @throws ServiceError  the fault itself, where unknown members are refused */
  unknown(fault: ServiceError): void {
    if (this.#unknownMembers === 'refuse') throw fault
    this.doubtful(fault)
  }

  /** Of a member that may be the client's own. */
  doubtful(fault: ServiceError): void {
    this.add('UnknownMember', fault.message, fault.field)
  }
}
