/**
 * What a front thread has an audit record: each list and each change before it begins, and how it ended.
 *
 * @module
 */
import type { AuditClient } from '../audit/client.js'
import { type AuditEntry, entryOf } from '../audit/entry.js'
import type { Answer, AnswerRecord } from '../format/answer.js'
import { operations } from '../interface/operations.js'
import type { Reply } from '../selection/reply.js'
import { AuditedRequest } from './audited-request.js'
import type { RequestEnd } from './observe.js'
import type { HttpRequest } from './request.js'

interface AuditTrailOptions {
  readonly client: AuditClient
  /** Whether it records counts, too. */
  readonly hasCounts: boolean
  /** Whether it has digests of lists. */
  readonly hasDigests: boolean
  /** Up to which change to the suppression lists answers are made now, at least. */
  readonly suppressionVersion: () => number
}

export class AuditTrail {
  readonly #client: AuditClient
  readonly #hasCounts: boolean
  readonly #hasDigests: boolean
  readonly #suppressionVersion: () => number

  constructor({ client, hasCounts, hasDigests, suppressionVersion }: AuditTrailOptions) {
    this.#client = client
    this.#hasCounts = hasCounts
    this.#hasDigests = hasDigests
    this.#suppressionVersion = suppressionVersion
  }

  /**
   * Carries a request out, and sends the answer, each when it is recorded.
   *
   * @throws ServiceError  AuditUnavailable, as a rejection
   */
  follow(
    request: HttpRequest,
    reply: Reply,
    execute: () => Promise<Answer | undefined>,
    send: (answer: Answer | undefined) => void | Promise<void>,
  ): Promise<void> {
    const isChange = request.call !== undefined && operations[request.call.name].isWrite
    if (isChange) return this.#change(request, reply).then(execute).then(send)
    const suppressionVersion = this.#suppressionVersion()
    return execute().then((answer) => {
      const isList = answer?.isList === true && request.method !== 'HEAD'
      if (isList) {
        const records = answer.records?.() ?? []
        return this.#list(request, reply, records, { suppressionVersion }).then(() => send(answer))
      }
      if (this.#hasCounts) this.#count(request, answer?.records?.() ?? [], { suppressionVersion })
      return send(answer)
    })
  }

  /** To be called once for each request, when it is over. */
  over(end: RequestEnd): void {
    const { audited } = end
    if (audited === undefined) return
    const { event, begun, begunCount, changes } = audited
    this.#client.note(
      entryOf({
        event,
        phase: 'ended',
        begun,
        begunCount: begunCount > 1 ? begunCount : undefined,
        requestId: end.requestId,
        status: end.status,
        outcome: outcomeOf(end),
        reason: end.cutReason,
        ...(event === 'list' && {
          rowCount: end.rowCount > 0 ? end.rowCount : undefined,
          bodyBytes: audited.bodyBytes,
          sentBytes: end.bytesOut,
          sha256: audited.sha256(),
        }),
        changes: changes.length > 0 ? changes : undefined,
      }),
    )
  }

  async #change(request: HttpRequest, reply: Reply): Promise<void> {
    const contextId = idIn(request.parameters)
    await this.#begin(request, reply, 'change', [{ contextId }])
  }

  async #list(
    request: HttpRequest,
    reply: Reply,
    records: readonly AnswerRecord[],
    shared: Facts,
  ): Promise<void> {
    const facts = records.map((record) => ({ ...shared, ...record.facts() }))
    await this.#begin(request, reply, 'list', facts)
  }

  async #begin(
    request: HttpRequest,
    reply: Reply,
    event: 'list' | 'change',
    facts: readonly Facts[],
  ): Promise<void> {
    const about = aboutOf(request)
    const entries = facts.map((own) => entryOf({ event, phase: 'begun', ...about, ...own }))
    const begun = await this.#client.record(entries)
    const audited = new AuditedRequest(
      event,
      begun,
      facts.length,
      this.#hasDigests && event === 'list',
    )
    // Its client may have left meanwhile, and then the request is over already.
    if (reply.gone) this.#leave(audited, request)
    else request.audited = audited
  }

  #leave({ event, begun }: AuditedRequest, { requestId }: HttpRequest): void {
    this.#client.note(entryOf({ event, phase: 'ended', begun, requestId, outcome: 'left' }))
  }

  #count(request: HttpRequest, records: readonly AnswerRecord[], shared: Facts): void {
    const about = aboutOf(request)
    for (const record of records) {
      const facts: Facts = record.facts()
      this.#client.note(entryOf({ event: 'count', ...about, ...shared, ...facts }))
    }
  }
}

type Facts = Readonly<Record<string, unknown>>

/** Who asks for what. */
function aboutOf(request: HttpRequest): Omit<AuditEntry, 'event'> {
  const { call, requestId, access, peerAddress, traceParent } = request
  return {
    requestId,
    traceId: traceParent?.traceId,
    keyName: access.keyName,
    address: peerAddress,
    operation: call?.name,
    isBatch: call?.isBatch ? true : undefined,
  }
}

/** A context by its path. Another variable of a path may be anything. */
function idIn({ Id }: Readonly<Record<string, string>>): string | undefined {
  return Id !== undefined && /^[\da-f-]{32,36}$/i.test(Id) ? Id : undefined
}

/** `completed`: the client has all of it, or what refused it. */
function outcomeOf({ outcome, status = 0 }: RequestEnd): string {
  if (outcome !== 'answered') return outcome
  return status < 400 ? 'completed' : 'refused'
}
