/**
 * The systems that geocodes of alerts are of. A geocode has the name of its system and a code (CAP 1.2, 3.2.4), and
 * every publisher spells the names in its own way. Here each spelling has one name, which the gazetteer has as
 * a layer or an alias.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { CapFaults } from './faults.js'
import type { AlertArea, NamedValue } from './model.js'

/** What the gazetteer knows a geocode by, such as `SAME:048201`; undefined where there is no such name. */
export function areaNameOf({ name, value }: NamedValue): string | undefined {
  const system = systemOf(name)
  if (system === undefined || value === '' || value.length > limits.geocodeCharCount)
    return undefined
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)) return undefined
  // Six digits of FIPS6 are PSSCCC as SAME has them: a part of the county, the state and the county.
  if (system === 'FIPS6' && /^\d{6}$/.test(value)) return `SAME:${value}`
  return `${system}:${value}`
}

/**
 * The one name of a system, whatever the spelling. One that is not in the table keeps its own name, if that can be
 * a name of the gazetteer: an operator may have imported the areas under it.
 */
export function systemOf(name: string): string | undefined {
  if (name.length > limits.geocodeCharCount && !SPELLINGS.has(name.toLowerCase())) return undefined
  return SPELLINGS.get(name.toLowerCase()) ?? (OWN_NAME.test(name) ? name : undefined)
}

/**
 * Tells what adds to an area from what excludes. The Deutscher Wetterdienst writes the holes of a polygon as geocodes.
 * What excludes in another way is a fault whatever is asked for: to leave it out would widen the area.
 */
export function addingAndHoles(
  values: readonly NamedValue[],
  faults: CapFaults,
): Pick<AlertArea, 'geocodes' | 'holes'> {
  const kindOf = ({ name }: NamedValue) => {
    if (/^\s*exclude[ _-]?polygon\s*$/i.test(name)) return 'hole'
    // However it is spelt: also EXCLUSION, and in the fullwidth letters of East Asia. Zones may be exclusive.
    return /exclu(?!siv)/i.test(name.normalize('NFKC').replace(/[^\p{L}]/gu, ''))
      ? 'unknown'
      : 'adding'
  }
  for (const value of values) {
    const kind = kindOf(value)
    if (kind === 'unknown') {
      const problem = 'excludes in a way that is not known: only EXCLUDE_POLYGON is'
      faults.add('CapExclusion', value.path, problem)
    } else if (kind === 'adding' && POSITIONS.test(value.value)) {
      const problem = 'is a list of positions, which may be a hole by a name that is not known'
      faults.add(
        'CapExclusion',
        value.path,
        `${problem}: write it as a polygon, or as EXCLUDE_POLYGON`,
      )
    }
  }
  return {
    geocodes: values.filter((value) => kindOf(value) === 'adding'),
    holes: values
      .filter((value) => kindOf(value) === 'hole')
      .map(({ value, path }) => ({ text: value, path })),
  }
}

/** Three pairs, as a polygon has them. */
const POSITIONS = /^\s*([+-]?\d{1,3}(\.\d+)?\s*,\s*[+-]?\d{1,3}(\.\d+)?(\s+|$)){3}/

const OWN_NAME = /^[A-Za-z][A-Za-z0-9 _.-]*$/

/** Spellings in small letters. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  [
    // Specific Area Message Encoding, PSSCCC: NWSI 10-1712; CAP 1.2 IPAWS profile 1.0.
    { system: 'SAME', spellings: ['same', 'same code', 'eas'] },
    // CAP 1.0 and 1.1 of the National Weather Service; the examples of CAP 1.0.
    { system: 'FIPS6', spellings: ['fips6', 'fips 6'] },
    { system: 'FIPS', spellings: ['fips', 'fips5'] },
    // Universal Geographic Code, zones and counties: NWSI 10-1702.
    { system: 'UGC', spellings: ['ugc', 'nwsugc', 'nws ugc'] },
    // Fire weather zones, which have codes like those of public zones and other shapes: api.weather.gov.
    { system: 'UGC-FIRE', spellings: ['ugc-fire'] },
    // Statistics Canada SGC: CAP Canadian Profile, location references.
    {
      system: 'CAP-CP',
      spellings: [
        'profile:cap-cp:location:0.3',
        'profile:cap-cp:location:0.4',
        'profile:cap-cp:location:1.0',
        'profile:cap-cp:location',
        'cap-cp',
      ],
    },
    // Location codes of Environment Canada: its layer of the Canadian profile.
    {
      system: 'CLC',
      spellings: [
        'layer:ec-msc-smc:1.0:clc',
        'layer:ec-msc-smc:1.1:clc',
        'layer:ec:1.0:clc',
        'clc',
      ],
    },
    // Warning areas of EUMETNET: Meteoalarm CAP profile.
    { system: 'EMMA_ID', spellings: ['emma_id', 'emma-id', 'emma id'] },
    // Regions of Eurostat: Regulation (EC) 1059/2003; Meteoalarm CAP profile.
    { system: 'NUTS1', spellings: ['nuts1'] },
    { system: 'NUTS2', spellings: ['nuts2'] },
    { system: 'NUTS3', spellings: ['nuts3'] },
    { system: 'NUTS', spellings: ['nuts'] },
    // Warning cells and communities: CAP profile of the Deutscher Wetterdienst.
    { system: 'WARNCELLID', spellings: ['warncellid'] },
    // Countries and their parts.
    { system: 'ISO3166-1', spellings: ['iso 3166-1', 'iso3166-1', 'iso-3166-1'] },
    {
      system: 'ISO3166-2',
      spellings: [
        'iso 3166-2',
        'iso3166-2',
        'iso-3166-2',
        // CAP Australian profile.
        'urn:oasis:names:tc:emergency:cap:1.2:profile:cap-au:1.0:iso3166-2',
      ],
    },
  ].flatMap(({ system, spellings }) => spellings.map((spelling) => [spelling, system] as const)),
)
