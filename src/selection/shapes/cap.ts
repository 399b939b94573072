/**
 * An alert as it comes: the member `cap` of a request, and those that say what of it counts.
 *
 * @module
 */
import { readAlert } from '../../cap/alert.js'
import { type CapDrawing, type CapOptions, drawingOfAlert } from '../../cap/drawing.js'
import { checkLanguage } from '../../cap/infos.js'
import type { Alert } from '../../cap/model.js'
import { isNwsAlert, readNwsAlert } from '../../cap/nws-feature.js'
import { CAP_PROFILES } from '../../cap/profiles.js'
import { ServiceError } from '../../errors.js'
import { flagOf, nameOf } from '../../interface/quoted.js'
import { limits } from '../../limits.js'
import type { Remarks } from '../remarks.js'
import { type GivenMembers, single } from '../request-members.js'
import { fail } from './positions.js'

/** What an alert draws, and where in it. */
export type DrawnAlert = Omit<CapDrawing, 'warnings'>

/**
 * What an alert draws; undefined where none is given.
 *
 * @throws ServiceError  of the alert, of a member that says what of it counts, or of such a member without it
 */
export function readCap(given: GivenMembers, remarks: Remarks): DrawnAlert | undefined {
  const value = single(given.cap)
  if (value === undefined || value === null) {
    for (const name of OPTIONS) {
      const option = single(given[name])
      if (option === undefined || option === null) continue
      fail('InvalidRequest', 'says what of an alert counts, and there is no member cap', name)
    }
    return undefined
  }
  return told(drawingOfAlert(alertOf(value), optionsOf(given)), remarks)
}

/** The same for a feature of api.weather.gov without a geometry, all of which counts. */
export function readNwsFeature(feature: unknown, path: string, remarks: Remarks): CapDrawing {
  const options = { geocodes: 'fallback', nowMs: Date.now() } as const
  try {
    return told(drawingOfAlert(readNwsAlert(feature, path), options), remarks)
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.code !== 'CapExpired') throw fault
    const problem = 'has expired: to select its area all the same, send it as cap, with expired'
    return fail('CapExpired', problem, path)
  }
}

function told(drawn: CapDrawing, remarks: Remarks): CapDrawing {
  for (const { code, message, path } of drawn.warnings) remarks.add(code, message, path)
  return drawn
}

const OPTIONS = ['language', 'expired', 'ended', 'profile', 'geocodes', 'geocodeSystems'] as const

/** The members that say what of an alert counts, as they came. */
type GivenOptions = Partial<Pick<GivenMembers, (typeof OPTIONS)[number]>>

/**
 * The alert in the member `cap`.
 *
 * @throws ServiceError  InvalidXml, TooComplex or InvalidCap
 */
export function alertOf(value: unknown): Alert {
  if (typeof value === 'string' || value instanceof Uint8Array) return readAlert(value, 'cap')
  if (isNwsAlert(value)) return readNwsAlert(value, 'cap')
  return fail('InvalidCap', 'must be a text of CAP, or an alert of api.weather.gov', 'cap')
}

/** @throws ServiceError  InvalidRequest */
export function optionsOf(given: GivenOptions): CapOptions {
  const language = textOf(single(given.language), 'language')
  if (language !== undefined) checkLanguage(language, 'language')
  const expired = flagIn(single(given.expired), 'expired') ?? false
  const ended = flagIn(single(given.ended), 'ended') ?? true
  const profile = oneOf(CAP_PROFILES, single(given.profile), 'profile')
  const geocodes = oneOf(RULES, single(given.geocodes), 'geocodes')
  const geocodeSystems = namesOf(single(given.geocodeSystems), 'geocodeSystems')
  return {
    nowMs: Date.now(),
    expired,
    ended,
    ...(language !== undefined && { language }),
    ...(profile !== undefined && { profile }),
    ...(geocodes !== undefined && { geocodes }),
    ...(geocodeSystems !== undefined && { geocodeSystems }),
  }
}

const RULES = ['union', 'fallback'] as const

function flagIn(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  return flagOf(value) ?? fail('InvalidRequest', 'must be true or false', path)
}

function textOf(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : fail('InvalidRequest', 'must be a text', path)
}

function oneOf<Name extends string>(
  names: readonly Name[],
  value: unknown,
  path: string,
): Name | undefined {
  if (value === undefined || value === null) return undefined
  const problem = `must be one of ${names.join(', ')}`
  return nameOf(names, value) ?? fail('InvalidRequest', problem, path)
}

function namesOf(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined
  const names = typeof value === 'string' ? [value] : value
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  if (!isList || names.length > limits.areaNameCount) {
    fail('InvalidRequest', 'must be a list of names of systems, such as SAME', path)
  }
  return names
}
