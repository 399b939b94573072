/**
 * Rules of profiles, checked when one is asked for. What a profile demands is refused by the name of its rule, and
 * what it recommends is a warning.
 *
 * Sources: [IPAWS] CAP 1.2 USA IPAWS Profile 1.0 (OASIS, 13 October 2009); [WEA] 47 CFR 10.400, and limits
 * of shapes, points and decimals that originators are commonly given, for which we found no published text; [NWS] National Weather Service CAP v1.2 Documentation;
 * [CAP-CP] CAP Canadian Profile, Introduction and Rule Set, Beta 0.4.
 *
 * @module
 */

import { fewestDecimals, pointCount } from './coordinates.js'
import type { CapFaults } from './faults.js'
import { systemOf } from './geocode-systems.js'
import type { Alert, AlertArea, AlertInfo, NamedValue } from './model.js'
import type { CapWarnings } from './warnings.js'

export const CAP_PROFILES = ['WEA', 'NWS', 'CAP-CP'] as const
export type CapProfile = (typeof CAP_PROFILES)[number]

export function checkProfile(
  alert: Alert,
  profile: CapProfile,
  faults: CapFaults,
  warnings: CapWarnings,
): void {
  for (const { name, level, problems } of RULES[profile]) {
    for (const { path, problem } of problems(alert)) {
      const text = `${problem} (rule ${name} of ${profile})`
      if (level === 'must') faults.add('ProfileViolated', path, text)
      else warnings.add('ProfileAdvice', path, text)
    }
  }
}

interface Rule {
  readonly name: string
  readonly level: 'must' | 'should'
  readonly problems: (alert: Alert) => readonly Problem[]
}

interface Problem {
  readonly path: string
  readonly problem: string
}

const WEA_SHAPES_MAX = 10
const WEA_POINTS_MAX = 100
const WEA_DECIMALS_MIN = 2

/** [IPAWS] `references`: the alerts that an Update or a Cancel is about. */
const REFERENCES: Rule = {
  name: 'references',
  level: 'must',
  problems: ({ msgType, references, path }) =>
    (msgType === 'Update' || msgType === 'Cancel') && references.length === 0
      ? [{ path, problem: 'is an Update or a Cancel, and refers to no alert' }]
      : [],
}

/** [IPAWS] `code`, which names the profile and its version. */
const IPAWS_CODE: Rule = {
  name: 'version',
  level: 'must',
  problems: ({ codes, path }) =>
    codes.includes('IPAWSv1.0') ? [] : [{ path, problem: 'has no code IPAWSv1.0' }],
}

/** [IPAWS], [CAP-CP]: one alert is about one event. */
const ONE_EVENT: Rule = {
  name: 'one-event',
  level: 'must',
  problems: ({ infos }) => {
    const first = textOf(infos[0]?.eventCodes ?? [])
    return infos
      .filter(({ eventCodes }) => textOf(eventCodes) !== first)
      .map(({ path }) => ({ path, problem: 'has other event codes than the first info' }))
  },
}

/** [IPAWS] `eventCode`: one of SAME, of three letters. */
const SAME_EVENT = infoRule(
  'same-event',
  'must',
  'must have one event code of SAME, of three letters',
  (info) => {
    const codes = info.eventCodes.filter(({ name }) => name === 'SAME')
    return codes.length === 1 && /^[A-Z]{3}$/.test(codes[0].value)
  },
)

const EXPIRES = (level: Rule['level']) =>
  infoRule('expires', level, 'has no expires', ({ expires }) => expires !== undefined)

const RULES: Readonly<Record<CapProfile, readonly Rule[]>> = {
  WEA: [
    IPAWS_CODE,
    REFERENCES,
    ONE_EVENT,
    SAME_EVENT,
    EXPIRES('must'),
    // [IPAWS] `category`.
    {
      name: 'one-category',
      level: 'must',
      problems: ({ infos }) => {
        const first = String(infos[0]?.categories)
        return infos
          .filter(({ categories }) => String(categories) !== first)
          .map(({ path }) => ({ path, problem: 'has other categories than the first info' }))
      },
    },
    // [IPAWS] `area`.
    infoRule('area', 'must', 'has no area', ({ areas }) => areas.length > 0),
    // [WEA]
    infoRule(
      'shapes',
      'must',
      `has more than ${WEA_SHAPES_MAX} polygons and circles`,
      ({ areas }) => shapesOf(areas).length <= WEA_SHAPES_MAX,
    ),
    // [WEA]
    infoRule(
      'points',
      'must',
      `has polygons of more than ${WEA_POINTS_MAX} points together`,
      ({ areas }) =>
        areas
          .flatMap(({ polygons }) => polygons)
          .reduce((sum, each) => sum + pointCount(each), 0) <= WEA_POINTS_MAX,
    ),
    // [WEA]
    {
      name: 'decimals',
      level: 'must',
      problems: ({ infos }) =>
        infos
          .flatMap(({ areas }) => shapesOf(areas))
          .filter((shape) => fewestDecimals(shape) < WEA_DECIMALS_MIN)
          .map(({ path }) => ({ path, problem: `has fewer than ${WEA_DECIMALS_MIN} decimals` })),
    },
    // [IPAWS] `geocode`.
    areaRule('same-geocode', 'should', 'has no geocode of SAME with six digits', hasSame),
    // 47 CFR 10.400 (b): alerts of an imminent threat, where no other class of alert is named.
    infoRule(
      'imminent',
      'should',
      'is no imminent threat: Immediate or Expected, Extreme or Severe, Observed or Likely',
      ({ urgency, severity, certainty, parameters }) =>
        parameters.some(({ name }) => name === 'WEAHandling') ||
        (['Immediate', 'Expected'].includes(urgency) &&
          ['Extreme', 'Severe'].includes(severity) &&
          ['Observed', 'Likely'].includes(certainty)),
    ),
  ],
  NWS: [
    IPAWS_CODE,
    REFERENCES,
    SAME_EVENT,
    EXPIRES('must'),
    // [NWS] `geocode`.
    areaRule('ugc-geocode', 'must', 'has no geocode of UGC', ({ geocodes }) =>
      geocodes.some(({ name }) => systemOf(name) === 'UGC'),
    ),
    areaRule('same-geocode', 'must', 'has no geocode of SAME with six digits', hasSame),
    // [NWS] `polygon`: the one of the warning.
    areaRule(
      'one-polygon',
      'must',
      'has more than one polygon',
      ({ polygons }) => polygons.length <= 1,
    ),
    // [NWS] `circle`: it is not used.
    areaRule('no-circle', 'must', 'has a circle', ({ circles }) => circles.length === 0),
  ],
  'CAP-CP': [
    // [CAP-CP] rule on the code of the profile.
    {
      name: 'version',
      level: 'must',
      problems: ({ codes, path }) =>
        codes.some((code) => /^profile:CAP-CP:\d+\.\d+$/.test(code))
          ? []
          : [{ path, problem: 'has no code of the profile, such as profile:CAP-CP:0.4' }],
    },
    REFERENCES,
    {
      name: 'info',
      level: 'must',
      problems: ({ infos, path }) => (infos.length > 0 ? [] : [{ path, problem: 'has no info' }]),
    },
    ONE_EVENT,
    // [CAP-CP] rule on event codes: by their form, since the list of them changes.
    infoRule('event-code', 'must', 'has no event code of profile:CAP-CP:Event', ({ eventCodes }) =>
      eventCodes.some(
        ({ name, value }) => name.startsWith('profile:CAP-CP:Event:') && value !== '',
      ),
    ),
    infoRule('area', 'must', 'has no area', ({ areas }) => areas.length > 0),
    // [CAP-CP] rule on location codes: two to seven digits of the SGC.
    areaRule('location-code', 'must', 'has no geocode of profile:CAP-CP:Location', ({ geocodes }) =>
      geocodes.some(({ name, value }) => systemOf(name) === 'CAP-CP' && /^\d{2,7}$/.test(value)),
    ),
    EXPIRES('should'),
    // [CAP-CP] rule on languages.
    {
      name: 'languages',
      level: 'should',
      problems: ({ infos, path }) => {
        const tags = infos.map(({ language }) => language.toLowerCase().slice(0, 2))
        return tags.includes('en') && tags.includes('fr')
          ? []
          : [{ path, problem: 'is not in English and in French' }]
      },
    },
    // [CAP-CP] rule on areas: shapes are more accurate than location codes.
    areaRule(
      'shapes',
      'should',
      'has no polygon and no circle',
      ({ polygons, circles }) => polygons.length + circles.length > 0,
    ),
  ],
}

function infoRule(
  name: string,
  level: Rule['level'],
  problem: string,
  holds: (info: AlertInfo) => boolean,
): Rule {
  return {
    name,
    level,
    problems: ({ infos }) =>
      infos.filter((info) => !holds(info)).map(({ path }) => ({ path, problem })),
  }
}

function areaRule(
  name: string,
  level: Rule['level'],
  problem: string,
  holds: (area: AlertArea) => boolean,
): Rule {
  return {
    name,
    level,
    problems: ({ infos }) =>
      infos
        .flatMap(({ areas }) => areas)
        .filter((area) => !holds(area))
        .map(({ path }) => ({ path, problem })),
  }
}

function hasSame({ geocodes }: AlertArea): boolean {
  return geocodes.some(({ name, value }) => name === 'SAME' && /^\d{6}$/.test(value))
}

function shapesOf(areas: readonly AlertArea[]) {
  return areas.flatMap(({ polygons, circles }) => [...polygons, ...circles])
}

/** In one order, whatever the order in the alert. */
function textOf(values: readonly NamedValue[]): string {
  return values
    .map(({ name, value }) => `${name}\n${value}`)
    .sort()
    .join('\n\n')
}
