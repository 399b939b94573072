import t from 'tap'
import { readOptions } from '../../loadtest/micro/harness/options.js'

const names = ['drawn', 'encode']

t.test('without arguments, a bench asks every question about ten million', async (t) => {
  t.match(readOptions([], names), { recipientCount: 10_000_000, seed: 1, help: false })
  t.equal(readOptions([], names).only, undefined)
  t.same(readOptions(['--growth', '1000,5000'], names).growth, [1_000, 5_000])
})

t.test('an option that is wrong is named, with what it may be', async (t) => {
  const cases: readonly (readonly [string[], RegExp])[] = [
    [['--recipients', '999'], /--recipients is an integer from 1000 .*, not "999"/],
    [['--recipients', '1e6'], /not "1e6"/],
    [['--seed', '4294967296'], /--seed is an integer from 0 to 4294967295/],
    [['--only', 'cities'], /--only is one of drawn, encode, not "cities"/],
    [['--growth', '1000,'], /--growth is an integer .*, not ""/],
    [['--fast'], /--fast/],
    [['drawn'], /drawn/],
  ]
  for (const [args, message] of cases) t.throws(() => readOptions(args, names), message, `${args}`)
})
