/**
 * Which information blocks of an alert count: those of a language, if one is asked for, and those that are still
 * in force; where it is asked for, only those that do not say that the danger is over.
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
  /** False leaves out what says that the danger is over. */
  readonly ended?: boolean
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

export function chosenInfos(
  { infos, path, sent }: Alert,
  { language, expired, ended, nowMs }: InfoChoice,
  faults: CapFaults,
  warnings: CapWarnings,
): readonly AlertInfo[] {
  const inLanguage = infos.filter((info) => language === undefined || isOf(info.language, language))
  if (infos.length > 0 && inLanguage.length === 0) {
    faults.add('CapLanguageMissing', path, 'has no information in the language that is asked for')
  }
  const chosen = withoutEnded(inLanguage, ended !== false, warnings)
  if (inLanguage.length > 0 && chosen.length === 0) {
    const problem = 'says that all of it is over: to select its area all the same, leave out ended'
    faults.add('CapEnded', path, problem)
  }
  const over = chosen.filter((info) => info.expires !== undefined && info.expires.atMs <= nowMs)
  if (over.length > 0 && over.length === chosen.length && expired !== true) {
    const problem = 'has expired: to select its area all the same, say expired=true'
    faults.add('CapExpired', `${over[0].path}.expires`, problem)
  } else {
    for (const info of over) warnings.add('InfoExpired', `${info.path}.expires`, 'is over')
  }
  for (const { expires, effective, onset, path: at } of chosen) {
    const beginMs = Math.max(sent.atMs, effective?.atMs ?? 0, onset?.atMs ?? 0)
    if (expires !== undefined || nowMs - beginMs <= UNEXPIRED_MS) continue
    warnings.add(
      'InfoOld',
      at,
      'has no expires, and is from more than a day ago: is it still in force?',
    )
  }
  return chosen
}

/** Where a danger goes on, publishers send an update at least each day. */
const UNEXPIRED_MS = 86_400_000

function withoutEnded(
  infos: readonly AlertInfo[],
  isSelected: boolean,
  warnings: CapWarnings,
): readonly AlertInfo[] {
  return infos.filter((info) => {
    const endings = ENDINGS.filter(({ holds }) => holds(info))
    const effect = isSelected ? 'is selected all the same' : 'is left out'
    for (const { code, problem } of endings)
      warnings.add(code, info.path, `${problem}: it ${effect}`)
    return isSelected || endings.length === 0
  })
}

const ENDINGS: readonly {
  readonly code: 'InfoAllClear' | 'InfoPast' | 'InfoUnlikely'
  readonly problem: string
  readonly holds: (info: AlertInfo) => boolean
}[] = [
  {
    code: 'InfoAllClear',
    problem: 'is an all-clear (responseType)',
    holds: ({ responseTypes }) => responseTypes.includes('AllClear'),
  },
  {
    // Environment Canada has the areas of an update that are still warned in other blocks than those that are no longer.
    code: 'InfoPast',
    problem: 'is over (urgency Past, or Alert_Location_Status ended)',
    holds: ({ urgency, parameters }) =>
      urgency === 'Past' ||
      parameters.some(({ name, value }) => LOCATION_STATUS.test(name) && /^ended$/i.test(value)),
  },
  {
    code: 'InfoUnlikely',
    problem: 'is not expected to happen (certainty Unlikely)',
    holds: ({ certainty }) => certainty === 'Unlikely',
  },
]

const LOCATION_STATUS = /^layer:EC-MSC-SMC:\d+\.\d+:Alert_Location_Status$/i

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
