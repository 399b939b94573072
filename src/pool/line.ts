/**
 * A queue whose members are linked to one another. A member joins it, and leaves it from any place,
 * without a new object.
 *
 * @module
 */

/** A member of one line at most. */
export interface InLine<Member> {
  before: Member | undefined
  behind: Member | undefined
}

export class Line<Member extends InLine<Member>> {
  first: Member | undefined
  length = 0
  #last: Member | undefined

  /** Joins the end of the line. */
  join(member: Member): void {
    member.before = this.#last
    if (this.#last === undefined) this.first = member
    else this.#last.behind = member
    this.#last = member
    this.length++
  }

  /** @param member  in this line */
  leave(member: Member): void {
    const { before, behind } = member
    if (before === undefined) this.first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
    member.before = undefined
    member.behind = undefined
    this.length--
  }
}
