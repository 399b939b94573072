import t from 'tap'
import { readOptions, usageOf } from '../../loadtest/options.js'

const scenarios = [
  { name: 'mixed', summary: 'some of everything' },
  { name: 'counts', summary: 'counts alone' },
  { name: 'lists', summary: 'lists alone' },
]

t.test('without arguments, the first scenario is run once with a million', async (t) => {
  const options = readOptions([], scenarios)
  t.match(options, {
    recipientCount: 1_000_000,
    sourceCount: 1,
    runCount: 1,
    overloadSeconds: 60,
    help: false,
  })
  t.same(options.names, ['mixed'])
  t.equal(options.jsonPath, undefined)
})

t.test('scenarios are named one by one, or all', async (t) => {
  const names = (...args: string[]) => readOptions(args, scenarios).names
  t.same(names('--only', 'lists'), ['lists'])
  t.same(names('--only', 'lists,mixed'), ['mixed', 'lists'])
  t.same(names('--all'), ['mixed', 'counts', 'lists'])
})

t.test('an option that is wrong is named, with what it may be', async (t) => {
  const cases: readonly (readonly [string[], RegExp])[] = [
    [['--recipients', '999'], /--recipients is an integer from 1000 .*, not "999"/],
    [['--sources', '101'], /--sources is an integer from 1 to 100, not "101"/],
    [['--runs', '0'], /--runs is an integer from 1 to 100, not "0"/],
    [['--overload-seconds', '601'], /--overload-seconds is an integer from 1 to 600/],
    [['--only', 'cities'], /--only takes names out of mixed, counts, lists, not "cities"/],
    [['--only', 'mixed,'], /not ""/],
    [['--only', 'mixed', '--all'], /exclude each other/],
    [['--fast'], /--fast/],
    [['lists'], /lists/],
  ]
  for (const [args, message] of cases) {
    t.throws(() => readOptions(args, scenarios), message, `${args}`)
  }
})

t.test('the usage has every scenario', async (t) => {
  for (const { name, summary } of scenarios) t.match(usageOf(scenarios), `${name}`, summary)
})
