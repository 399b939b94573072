/**
 * The line of an audit for GetSourcesRequest had two members `sequence`: its own number, and the number of the last
 * batch of changes. Readers of JSON take the last one.
 */

import t from 'tap'
import type { AnswerRecord } from '../../src/format/answer.js'
import { sourceOperations } from '../../src/operations/selections.js'
import { columnsOf } from '../support/data/columns.js'
import { always } from '../support/service/current.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

t.test('the sequence of the changes has a name of its own', async (t) => {
  const columns = columnsOf([{ phone: '+9991', lng: 0, lat: 0, contact: 'a' }])
  const { GetSourcesRequest } = sourceOperations(
    always(localService([{ id: 1, label: 'A', columns }])),
  )
  const answer = await GetSourcesRequest({}, inTime())
  const facts = answer?.records?.()[0].facts()
  t.match(facts, { changesSequence: 0, sources: [{ id: 1, count: 1 }] })
  t.notOk('sequence' in Object(facts))
})

t.test('no operation can record a fact by the name of a member of the line', async () => {
  // @ts-expect-error
  const numbered: AnswerRecord = { facts: () => ({ sequence: 1 }) }
  // @ts-expect-error
  const named: AnswerRecord = { facts: () => ({ snapshotId: '1', keyName: 'a' }) }
  const allowed: AnswerRecord = { facts: () => ({ changesSequence: 1 }) }
  void [numbered, named, allowed]
})
