/** The Containerfile as a linter sees it. A long test follows its steps; no container engine runs here. */
import { validate } from 'dockerfile-utils'
import t from 'tap'
import { commandOf, readContainerfile, stepsOf } from './containerfile.js'

const text = readContainerfile()
const steps = stepsOf(text)
const textsOf = (keyword: string) =>
  steps.filter((step) => step.keyword === keyword).map((step) => step.text)

t.test('a linter finds nothing, and finds what is wrong', async (t) => {
  t.same(validate(text), [])
  t.not(validate(text.replace('\nUSER ', '\nUSERS ')).length, 0)
})

t.test('the service is a user without rights, and gets signals itself', async (t) => {
  t.match(textsOf('USER'), [/^[1-9]\d+:[1-9]\d+$/])
  t.same(textsOf('STOPSIGNAL'), ['SIGTERM'])
  for (const command of [...textsOf('ENTRYPOINT'), ...textsOf('CMD'), ...textsOf('HEALTHCHECK')]) {
    t.ok(commandOf(command).length > 0, command)
  }
  t.equal(textsOf('VOLUME').length, 1)
})

t.test('the base has a release', async (t) => {
  t.match(textsOf('FROM'), [/^debian:\d+-slim$/])
})
