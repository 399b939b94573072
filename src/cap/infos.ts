/**
 * Which information blocks of an alert count: those of a language, if one is asked for, and those that are still
 * in force.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { CapFaults } from './faults.js'
import type { Alert, AlertInfo } from './model.js'
import type { CapWarnings } from './warnings.js'

export interface InfoChoice {
  /** A language range as RFC 4647 (3.3.1) has it: `en` is en, en-US and en-CA. */
  readonly language?: string
  /** True selects what has expired, too. */
  readonly expired?: boolean
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

export function chosenInfos(
  { infos, path }: Alert,
  { language, expired, nowMs }: InfoChoice,
  faults: CapFaults,
  warnings: CapWarnings,
): readonly AlertInfo[] {
  const chosen = infos.filter((info) => language === undefined || isOf(info.language, language))
  if (infos.length > 0 && chosen.length === 0) {
    faults.add('CapLanguageMissing', path, 'has no information in the language that is asked for')
  }
  const over = chosen.filter((info) => info.expires !== undefined && info.expires.atMs <= nowMs)
  if (over.length > 0 && over.length === chosen.length && expired !== true) {
    const problem = 'has expired: to select its area all the same, say expired=true'
    faults.add('CapExpired', `${over[0].path}.expires`, problem)
  } else {
    for (const info of over) warnings.add('InfoExpired', `${info.path}.expires`, 'is over')
  }
  return chosen
}

/** @throws ServiceError  of what is no range of languages */
export function checkLanguage(language: string, path: string): void {
  if (/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,8}$/.test(language)) return
  const problem = 'must be a language such as en or fr-CA (RFC 5646)'
  throw new ServiceError('InvalidRequest', `${path} ${problem}`, path)
}

function isOf(language: string, range: string): boolean {
  const [tag, wanted] = [language.toLowerCase(), range.toLowerCase()]
  return tag === wanted || tag.startsWith(`${wanted}-`)
}
