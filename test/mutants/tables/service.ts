/**
 * Faults of the running service: HTTP, keys, TLS, its pools, metrics, logs, settings and snapshots that it takes.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofService: readonly Mutant[] = [
  {
    name: 'a key may do what its scopes do not say',
    file: 'src/keys/key-access.ts',
    find: "return this.#scopes.has(scope) || this.#scopes.has('admin')",
    replace: "return this.#scopes.size > 0 || this.#scopes.has('admin') || this.#scopes.has(scope)",
  },
  {
    name: 'the boundary of a key is forgotten',
    file: 'src/keys/key-access.ts',
    find: 'this.boundary = record.boundary\n',
    replace: 'this.boundary = undefined\n',
  },
  {
    name: 'an expired key lets in',
    file: 'src/keys/key-record.ts',
    find: "Date.parse(expiresAt) <= nowMs ? 'expired' : 'live'",
    replace: "Date.parse(expiresAt) <= 0 ? 'expired' : 'live'",
  },
  {
    name: 'a revoked key lets in',
    file: 'src/keys/key-record.ts',
    find: "if (revokedAt !== undefined) return 'revoked'\n",
    replace: '\n',
  },
  {
    name: 'a secret that was replaced lets in for ever',
    file: 'src/keys/key-ring.ts',
    find: "if (untilMs <= nowMs) return { rejection: 'replaced', keyName }\n",
    replace: '\n',
  },
  {
    name: 'a key may have one list more at a time',
    file: 'src/keys/key-memory.ts',
    find: 'if (Atomics.add(words, at, 1n) < BigInt(maxCount)) return true',
    replace: 'if (Atomics.add(words, at, 1n) <= BigInt(maxCount)) return true',
  },
  {
    name: 'rows of yesterday count today',
    file: 'src/keys/key-memory.ts',
    find: 'const used = before / DAY === day ? before % DAY : 0n',
    replace: 'const used = before % DAY',
  },
  {
    name: 'a boundary of a key may exclude',
    file: 'src/keys/boundary.ts',
    find: 'const isSpecial = excluded.length > 0 || nearest',
    replace: 'const isSpecial = nearest',
  },
  {
    name: 'a key that expires is known by its header for ever',
    file: 'src/http/key-guard.ts',
    find: 'if (known !== undefined && nowMs < known.untilMs) {',
    replace: 'if (known !== undefined) {',
  },
  {
    name: 'who guesses keys is not slowed',
    file: 'src/http/key-guard.ts',
    find: 'this.#guessers.note(address, nowMs)\n',
    replace: '\n',
  },
  {
    name: 'the scopes of a key are not asked for',
    file: 'src/http/gate.ts',
    find: 'if (scopes.some((scope) => request.access.allows(scope))) return undefined',
    replace:
      'if (scopes.some((scope) => scope.length > 0 || request.access.allows(scope))) return undefined',
  },
  {
    name: 'an overloaded service takes more work',
    file: 'src/http/gate.ts',
    find: 'if (this.#isFull(request.declaredBytes)) return OVERLOADED\n',
    replace: '\n',
  },
  {
    name: 'a forwarded request may write in an open service',
    file: 'src/http/gate.ts',
    find: 'if (PROXY_HEADERS.some((name) => request.header(name) !== undefined)) {',
    replace: "if (request.header('forwarded') !== undefined) {",
  },
  {
    name: 'Content-Length beside Transfer-Encoding is taken',
    file: 'src/http/gate.ts',
    find: 'if (request.lengthCount > 0) {',
    replace: 'if (request.lengthCount > 1) {',
  },
  {
    name: 'the failure of a batch is told at the wrong place',
    file: 'src/http/batch.ts',
    find: 'if (fault instanceof ServiceError) throw new BatchStopped(fault, answers.length)',
    replace: 'if (fault instanceof ServiceError) throw new BatchStopped(fault, requests.length)',
  },
  {
    name: 'an overloaded service does not say when to come again',
    file: 'src/http/fault.ts',
    find: "if (error.status === 503) headers['Retry-After'] = retryAfterSeconds()",
    replace: "if (error.status === 504) headers['Retry-After'] = retryAfterSeconds()",
  },
  {
    name: 'a page of a foreign origin may read answers',
    file: 'src/http/cors.ts',
    find: 'if (origin === undefined || !(isForAll || origins.includes(origin))) return headers',
    replace: 'if (origin === undefined) return headers',
  },
  {
    name: 'a body of gzip may be of any size',
    file: 'src/http/decompress.ts',
    find: 'maxOutputLength: maxBytes, chunkSize',
    replace: 'maxOutputLength: 1000 * maxBytes, chunkSize',
  },
  {
    name: 'bytes behind a compressed body are ignored',
    file: 'src/http/decompress.ts',
    find: 'if (readBytes < bytes.length) throw broken()\n',
    replace: '\n',
  },
  {
    name: 'a body in chunks may be of any size',
    file: 'src/http/body.ts',
    find: 'if (this.#declaredBytes === undefined && this.receivedBytes > limits.bodyBytes) {',
    replace:
      'if (this.#declaredBytes === undefined && this.receivedBytes > 100 * limits.bodyBytes) {',
  },
  {
    name: 'the memory of bodies is not given back',
    file: 'src/http/body.ts',
    find: 'this.#budget.heldBytes -= this.#heldBytes\n',
    replace: '\n',
  },
  {
    name: 'a slow reader is never cut off',
    file: 'src/http/response/reader-watch.ts',
    find: 'if (nowMs >= this.#dueMs) {',
    replace: 'if (nowMs >= 2 * this.#dueMs) {',
  },
  {
    name: 'a client that refuses compression gets it',
    file: 'src/http/response/compression.ts',
    find: "const encoding = choice.encoding([...encodings, 'identity'], { preferred: encodings })",
    replace:
      'const encoding = choice.encoding([...encodings], { preferred: encodings }) ?? encodings[0]',
  },
  {
    name: 'a header Idempotency-Key that differs from the body is ignored',
    file: 'src/http/idempotency-key.ts',
    find: 'if (String(given) === key) return members',
    replace: 'if (String(given) !== "") return members',
  },
  {
    name: 'a list begins before the audit has it',
    file: 'src/http/audit-trail.ts',
    find: 'return this.#list(request, reply, records, { suppressionVersion }).then(() => send(answer))',
    replace:
      'void this.#list(request, reply, records, { suppressionVersion }); return send(answer)',
  },
  {
    name: 'the audit has no end of a request',
    file: 'src/http/audit-trail.ts',
    find: 'if (audited === undefined) return\n',
    replace: 'if (audited !== undefined) return\n',
  },
  {
    name: 'a change has no line in the access log',
    file: 'src/http/access-log.ts',
    find: "if (isChange(end)) return 'change'\n",
    replace: '\n',
  },
  {
    name: 'the access log has an address in the place of an error code',
    file: 'src/http/access-log.ts',
    find: 'errorCode: faultCode,',
    replace: 'errorCode: rowCount > 0 ? undefined : address,',
  },
  {
    name: 'requests are counted under the status of another',
    file: 'src/http/request-counts.ts',
    find: 'page[statusSlots[status ?? 0] ?? statusSlots[OTHER_STATUS]]++',
    replace: 'page[statusSlots[200] ?? statusSlots[OTHER_STATUS]]++',
  },
  {
    name: 'time of waiting is not in the time of an answer',
    file: 'src/http/request-counts.ts',
    find: 'const answer = parse + wait + select',
    replace: 'const answer = parse + select',
  },
  {
    name: 'buckets of a histogram are not cumulative',
    file: 'src/metrics/exposition.ts',
    find: 'count += at(slot + bucket * stride)\n',
    replace: 'count = at(slot + bucket * stride)\n',
  },
  {
    name: 'counters of a query worker fall when its page is taken again',
    file: 'src/metrics/memory.ts',
    find: 'for (const slot of workerGauges) page[slot] = 0',
    replace: 'for (const slot of page.keys()) page[slot] = 0',
  },
  {
    name: 'a task that a worker took with it is tried for ever',
    file: 'src/pool/scheduler.ts',
    find: 'const mayTry = waiting.attemptCount < limits.taskAttemptCount && !this.#isStopped',
    replace: 'const mayTry = waiting.attemptCount >= 0 && !this.#isStopped',
  },
  {
    name: 'a selection for which nobody waits is sent',
    file: 'src/pool/scheduler.ts',
    find: 'if (waiting.caller.gone) {',
    replace: 'if (waiting.caller.gone && waiting.isSettled) {',
  },
  {
    name: 'workers do not see that a task is unwanted',
    file: 'src/pool/control.ts',
    find: 'return Atomics.load(flag, 0) === 1',
    replace: 'return Atomics.load(flag, 0) === 2',
  },
  {
    name: 'all workers may be busy with large tasks',
    file: 'src/pool/placement.ts',
    find: 'return count >= Math.max(1, ready.length - 1)',
    replace: 'return count >= Math.max(1, ready.length)',
  },
  {
    name: 'tasks that fail are not counted',
    file: 'src/pool/lane-counts.ts',
    find: 'this.#page[TASK_FAILURES] += taskCount',
    replace: 'this.#page[TASK_FAILURES] += 0 * taskCount',
  },
  {
    name: 'a client certificate that nobody signed is taken where certificates are optional',
    file: 'src/tls/terminator.ts',
    find: 'if (certificate !== undefined && !client.authorized) {',
    replace:
      'if (certificate !== undefined && client.authorizationError === undefined && !client.authorized) {',
  },
  {
    name: 'a client without a certificate gets in where certificates are required',
    file: 'src/tls/terminator.ts',
    find: "rejectUnauthorized: clientCertificates === 'required',",
    replace: 'rejectUnauthorized: false,',
  },
  {
    name: 'a free slot of a TLS client can be guessed',
    file: 'src/tls/peers.ts',
    find: 'return sum !== 0\n',
    replace: 'return true\n',
  },
  {
    name: 'a key file that everybody may read is taken',
    file: 'src/tls/credentials.ts',
    find: 'if (isSecret && (mode & 0o006) !== 0) {',
    replace: 'if (isSecret && (mode & 0o002) !== 0) {',
  },
  {
    name: 'tasks wait for ever when their thread has died',
    file: 'src/task-threads.ts',
    find: 'for (const job of this.#waiting.splice(0)) job.reject(this.#end)',
    replace: 'void this.#end',
  },
  {
    name: 'lines of the access log that are dropped stay counted as queued',
    file: 'src/access-log/queue.ts',
    find: "addTo(this.#counters, 'queued', -byteCount)\n",
    replace: '\n',
  },
  {
    name: 'the environment wins over a flag',
    file: 'src/config.ts',
    find: 'if (flags[name] !== undefined) {',
    replace: 'if (flags[name] !== undefined && environment[variable] === undefined) {',
  },
  {
    name: 'the admin listener may be reached from elsewhere',
    file: 'src/setting-values.ts',
    find: '/^(localhost|127\\.\\d+\\.\\d+\\.\\d+|::1)$/i.test(host)',
    replace: '/^(localhost|\\d+\\.\\d+\\.\\d+\\.\\d+|::1)$/i.test(host)',
  },
  {
    name: 'the message of JSON.parse is logged, with what was sent',
    file: 'src/log.ts',
    find: "fault instanceof SyntaxError || fault.name === 'AssertionError'",
    replace: "fault.name === 'AssertionError'",
  },
  {
    name: 'a page of another origin may take a profile',
    file: 'src/admin/listener.ts',
    find: "return site !== 'same-origin' && site !== 'none'",
    replace: "return site === 'cross-site'",
  },
  {
    name: 'OpenAPI has no answer 304 of what can be asked conditionally',
    file: 'src/describe/open-api-paths.ts',
    find: "responses(operation, verb === 'GET', form),",
    replace: "responses(operation, verb === 'POST', form),",
  },
  {
    name: 'a snapshot is switched to while a front has refused it',
    file: 'src/serve/swap.ts',
    find: "(await prepared).find((report) => report.kind === 'refused')",
    replace: "(await prepared).slice(1).find((report) => report.kind === 'refused')",
  },
  {
    name: 'a new snapshot is served before suppressed people are marked in it',
    file: 'src/serve/swap.ts',
    find: 'await marks.attach(snapshot)\n',
    replace: 'void marks.attach(snapshot)\n',
  },
  {
    name: 'a service falls back behind a snapshot of a later version',
    file: 'src/serve/fall-back.ts',
    find: 'if (isNewer(error) && refusals.length === 0) throw error\n',
    replace: '\n',
  },
  {
    name: 'a service that others reach needs no keys',
    file: 'src/serve/who-may-ask.ts',
    find: "if (isIPv4(address)) return address.startsWith('127.')",
    replace: 'if (isIPv4(address)) return true',
  },
  {
    name: 'a refused snapshot is tried again at every look',
    file: 'src/serve/watch.ts',
    find: 'return !wasRefused || performance.now() - this.#refusedMs >= this.#times.retryMs',
    replace: 'return !wasRefused || performance.now() - this.#refusedMs >= 0',
  },
  {
    name: 'Debian packages have no sum',
    file: 'src/package/checksums.ts',
    find: '(tar\\.gz|tgz|deb)',
    replace: '(tar\\.gz|tgz)',
  },
  {
    name: 'a package keeps binaries for musl',
    file: 'src/package/prune.ts',
    find: "if (path.includes('.musl.')) return true\n",
    replace: '\n',
  },
]
