import t from 'tap'
import { Questions } from '../../src/threads/calls.js'

t.test('answers come in any order, each to its own question', async (t) => {
  const questions = new Questions<string>()
  const sent: number[] = []
  const send = (number: number) => void sent.push(number)
  const asked = [questions.ask(send), questions.ask(send), questions.ask(send)]
  for (const number of sent.toReversed()) questions.settle(number, `answer ${number}`)
  t.same(await Promise.all(asked), ['answer 1', 'answer 2', 'answer 3'])
  questions.settle(1, 'again')
  questions.settle(9, 'to nothing')
})

t.test(
  'a question that is not answered in time fails, and its late answer is dropped',
  async (t) => {
    const questions = new Questions<string>()
    const patience = { waitMs: 5, fault: () => new Error('too late') }
    let number = 0
    const late = questions.ask((own) => {
      number = own
    }, patience)
    await t.rejects(late, { message: 'too late' })
    questions.settle(number, 'late')
    const inTime = questions.ask((own) => questions.settle(own, 'in time'), {
      ...patience,
      waitMs: 60_000,
    })
    t.equal(await inTime, 'in time', 'and leaves no timer, which would keep this process')
  },
)

t.test('when nobody answers any more, what was asked fails, and what comes', async (t) => {
  const questions = new Questions<string>()
  const asked = questions.ask(() => {})
  questions.fail(new Error('it ended'))
  await t.rejects(asked, { message: 'it ended' })
  await t.rejects(
    questions.ask(() => t.fail('nothing is sent')),
    { message: 'it ended' },
  )
})

t.test('a question that cannot be sent fails', async (t) => {
  const questions = new Questions<string>()
  const send = () => {
    throw new Error('it cannot be cloned')
  }
  await t.rejects(questions.ask(send, { waitMs: 60_000, fault: () => new Error('late') }), {
    message: 'it cannot be cloned',
  })
})
