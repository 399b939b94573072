/**
 * Imports that are killed as they make a system call, and what must be true afterwards.
 *
 * @module
 */
import { join } from 'node:path'
import { type Call, CHANGING, callsBelow } from './calls.js'
import { ageLock, currentContent, leftovers } from './content.js'
import { inPlace, type Place, placeFor, type Scenario, type Stage } from './stage.js'
import { runDisturbed, runImport, traceImport } from './trace.js'

/** A call to kill an import at. */
export interface KillPoint {
  readonly scenario: Scenario
  readonly call: Call
}

/** All calls that change something; where files are copied, those that are not made otherwise. */
export async function killPoints({ replace, copies, first }: Stage): Promise<KillPoint[]> {
  const linking = await changesOf(replace)
  const known = new Set(linking.map(keyOf))
  const copying = (await changesOf(copies)).filter((call) => !known.has(keyOf(call)))
  return [
    ...linking.map((call) => ({ scenario: replace, call })),
    ...copying.map((call) => ({ scenario: copies, call })),
    ...(await changesOf(first)).map((call) => ({ scenario: first, call })),
  ]
}

const keyOf = ({ syscall, path, when }: Call) => `${syscall} ${path} ${when}`

/** All calls of a scenario's import that change something in its place, in the order of a run. */
export async function changesOf(scenario: Scenario): Promise<Call[]> {
  const place = placeFor(scenario)
  try {
    return callsBelow(await traceImport(place.import, CHANGING), place.directory, true)
  } finally {
    place.remove()
  }
}

/** Kills an import as it makes a call; returns what is wrong after that, if anything is. */
export async function killAt(scenario: Scenario, call: Call): Promise<string | undefined> {
  return inPlace(scenario, `${call.syscall} ${call.when} of ${call.path}`, async (place) => {
    const path = join(place.directory, call.path)
    const { code } = await runDisturbed(place.import, { ...call, path, effect: 'signal=SIGKILL' })
    if (code !== null) throw new Error(`it was not killed but ended with ${code}`)
    await currentContent(place.data, scenario.expected)
    await importAgain(scenario, place)
  })
}

/** Tells an import to end as it makes a call that is too late for that. */
export async function interruptAt(scenario: Scenario, call: Call): Promise<string | undefined> {
  return inPlace(scenario, `${call.syscall} ${call.when} of ${call.path}`, async (place) => {
    const path = join(place.directory, call.path)
    const injection = { ...call, path, effect: 'signal=SIGTERM' }
    const { code, stderr } = await runDisturbed(place.import, injection)
    if (code !== 0 || !stderr.includes('too late')) throw new Error(`${code}: ${stderr}`)
    const content = await currentContent(place.data, scenario.expected)
    if (content !== scenario.expected.after) throw new Error('the old snapshot is current')
    const left = leftovers(place.data, place.import.temporaryDirectory)
    if (left.length > 0) throw new Error(`the import leaves ${left.join()}`)
  })
}

/** An import after a disturbed one must work, and remove what that one left. */
export async function importAgain(scenario: Scenario, place: Place): Promise<void> {
  ageLock(place.data)
  const { code, stderr } = await runImport(place.import)
  if (code !== 0) throw new Error(`the next import ended with ${code}: ${stderr}`)
  const content = await currentContent(place.data, scenario.expected)
  if (content !== scenario.expected.after) throw new Error('the next import is not current')
  const left = leftovers(place.data, place.import.temporaryDirectory)
  if (left.length > 0) throw new Error(`the next import leaves ${left.join()}`)
}
