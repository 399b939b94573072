/**
 * Groups of a journal in a real stream of NATS.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import t, { type Test } from 'tap'
import type { Connection } from '../../../src/cluster/nats/connection.js'
import { LogStream } from '../../../src/cluster/nats/log-stream.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import type { Groups } from '../../../src/journal/groups.js'
import { connected } from '../support/connected.js'
import { type NatsServer, startNatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'
import { WrittenJournal } from '../support/written-journal.js'

const names = namesOf('test')

async function streamOf(t: Test, nats: NatsServer) {
  const connection = await connected(t, nats)
  return { connection, stream: await LogStream.open(connection, names) }
}

/** What is behind a batch, which must be there. */
function groupsOf(journal: WrittenJournal, since: number): Groups {
  const groups = journal.behind(since)
  if (groups === undefined) throw new Error(`nothing is behind ${since}`)
  return groups
}

withEachNats(t, async (t, server) => {
  t.test('groups are appended at an expected place alone, and found there', async (t) => {
    const nats = await startNatsServer(t, { server })
    const { connection, stream } = await streamOf(t, nats)
    const journal = new WrittenJournal(t)
    t.same(await stream.end(), { streamSequence: 0, carried: undefined })
    t.equal(await stream.groupsBehind(0), undefined)
    const first = appended(journal, 100, 200)
    t.equal(await stream.append(first, 0), 1)
    const second = appended(journal, 50)
    await t.rejects(stream.append(second, 0), /wrong last sequence: 1/)
    await t.rejects(stream.append(second, 2), /wrong last sequence: 1/)
    t.equal(await stream.append(second, 1), 2)
    t.same(await stream.end(), { streamSequence: 2, carried: second.last })
    t.equal(await stream.lastStreamSequence(), 2)
    // By one who has read none of them, and by one who goes on.
    for (const reader of [await LogStream.open(connection, names), stream]) {
      t.same(await reader.groupsBehind(0), first)
      t.same(await reader.groupsBehind(first.last.sequence), second)
      t.equal(await reader.groupsBehind(second.last.sequence), undefined)
      t.equal(await reader.groupsBehind(1), undefined, 'in the middle of a group')
    }
  })

  t.test('a group that is longer than a message is several, or none', async (t) => {
    const nats = await startNatsServer(t, { server, settings: 'max_payload: 65536' })
    const { connection, stream } = await streamOf(t, nats)
    const journal = new WrittenJournal(t)
    const first = appended(journal, 10)
    const long = appended(journal, 150_000, 150_000)
    const third = appended(journal, 10)
    const partCount = Math.ceil(long.bytes.length / connection.partBytes)
    t.equal(await stream.append(first, 0), 1)
    t.equal(await stream.append(long, 1), 1 + partCount)
    t.equal(await stream.append(third, 1 + partCount), 2 + partCount)
    t.same(await stream.end(), { streamSequence: 2 + partCount, carried: third.last })
    t.same(await stream.groupsBehind(first.last.sequence), long)
    t.same(await stream.groupsBehind(long.last.sequence), third)
    for (let count = 1; count <= partCount; count++) {
      const cut = await copied(connection, count + 1, `cut-${count}`)
      const isWhole = count === partCount
      const carried = isWhole ? long.last : first.last
      t.same(await cut.end(), { streamSequence: count + 1, carried })
      const found = await cut.groupsBehind(first.last.sequence)
      t.same(found, isWhole ? long : undefined)
      t.same(await cut.groupsBehind(0), first)
      if (isWhole) continue
      t.equal(await cut.append(long, count + 1), count + 1 + partCount, 'once more, behind it')
      t.same(await cut.end(), { streamSequence: count + 1 + partCount, carried: long.last })
    }
  })

  t.test('what others have put there is no group', async (t) => {
    const nats = await startNatsServer(t, { server })
    const { connection, stream } = await streamOf(t, nats)
    const journal = new WrittenJournal(t)
    const first = appended(journal, 10)
    await stream.append(first, 0)
    connection.publish(names.log, Buffer.from('what is this'))
    await connection.nats.flush()
    t.same(await stream.end(), { streamSequence: 2, carried: undefined })
    t.same(await stream.groupsBehind(0), first)
    t.equal(await stream.groupsBehind(first.last.sequence), undefined)
  })

  t.test('many groups are found from any place', async (t) => {
    const nats = await startNatsServer(t, { server })
    const { connection, stream } = await streamOf(t, nats)
    const journal = new WrittenJournal(t)
    const ends = [0]
    for (let at = 0; at < 50; at++) {
      const groups = appended(journal, ...Array.from({ length: 1 + (at % 3) }, () => 20))
      await stream.append(groups, at)
      ends.push(groups.last.sequence)
    }
    // Each by a reader that has read nothing.
    for (const [at, since] of ends.entries()) {
      const reader = await LogStream.open(connection, names)
      const found = await reader.groupsBehind(since)
      t.equal(found?.last.sequence, ends[at + 1])
    }
  })
})

/** A group that is written, alone. */
function appended(journal: WrittenJournal, ...byteCounts: readonly number[]): Groups {
  const since = journal.sequence
  journal.append(...byteCounts)
  return groupsOf(journal, since)
}

/** A stream that has only the first messages. */
async function copied(connection: Connection, count: number, clusterId: string) {
  const manager = await jetstreamManager(connection.nats)
  const client = jetstream(connection.nats)
  const other = namesOf(clusterId)
  const stream = await LogStream.open(connection, other)
  for (let seq = 1; seq <= count; seq++) {
    const message = await manager.streams.getMessage(names.stream, { seq })
    if (message === null) throw new Error(`message ${seq} is not there`)
    await client.publish(other.log, message.data, { headers: message.header })
  }
  return stream
}
