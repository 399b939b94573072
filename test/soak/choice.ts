/**
 * What a soak is asked to do.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { type Area, areas } from './areas.js'
import { debts } from './debts.js'

export interface Choice {
  readonly areas: readonly Area[]
  readonly minutes: number
  readonly seed: number
}

const MINUTES = 60
const onlyNamed = areas
  .filter(({ isOnlyNamed }) => isOnlyNamed)
  .map(({ name }) => name)
  .join(', ')

export const usage = `npm run test:soak -- [AREA | src/FOLDER]... [--minutes N] [--seed S]
npm run test:soak -- --list

Runs the areas in turn, each round with a new seed, the area that has had the least time
next. Each area gets at least one round, even when the minutes are over; later rounds
start only while there is time, and none is cut short. src/FOLDER stands for the areas
and minutes that a change of this folder owes. Without areas, all are run but these,
which take an hour or more: ${onlyNamed}.

  --minutes N  (${MINUTES}, or those that the folders owe)
  --seed S     of the seeds of all rounds (a new one each time)
  --list       what the areas show, and what they need`

/** @returns the text to print instead, where that is asked for */
export function choose(args: readonly string[]): Choice | string {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  if (values.help === true) return usage
  if (values.list === true) return areas.map(described).join('\n')
  const owed = positionals.filter((word) => word.startsWith('src/')).map(debtOf)
  const names = new Set([
    ...positionals.filter((word) => !word.startsWith('src/')),
    ...owed.flatMap((debt) => debt.areas),
  ])
  for (const name of names) {
    if (!areas.some((area) => area.name === name)) throw new Error(`there is no area "${name}"`)
  }
  return {
    areas: areas.filter(({ name, isOnlyNamed }) =>
      names.size === 0 ? isOnlyNamed !== true : names.has(name),
    ),
    minutes: wholeOf('minutes', values.minutes) ?? owedMinutes(owed),
    seed: wholeOf('seed', values.seed) ?? Date.now() % 2 ** 31,
  }
}

function debtOf(path: string) {
  const [, folder] = path.split('/')
  const debt = debts.find(({ folders }) => folders.includes(folder))
  if (debt === undefined) throw new Error(`there is no folder src/${folder}`)
  return debt
}

function owedMinutes(owed: readonly { readonly minutes: number }[]): number {
  return owed.length === 0 ? MINUTES : Math.max(...owed.map(({ minutes }) => minutes))
}

function wholeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text)) throw new Error(`--${name} must be a whole number, not "${text}"`)
  return Number(text)
}

function described({ name, shows, needs, isOnlyNamed }: Area): string {
  const needed = needs.length === 0 ? '' : ` Needs ${needs.join(', ')}.`
  return `${name.padEnd(12)} ${shows}${needed}${isOnlyNamed ? ' Only where it is named.' : ''}`
}
