/**
 * The area of an alert as shapes: the union of all areas of all its information blocks, and in each area of all
 * polygons, circles and geocodes (CAP 1.2, 3.2.4). Nothing is widened, narrowed or dropped without a word.
 *
 * @module
 */

import { crossesItself } from '../geometry/polygon/crossing.js'
import { type RingBudget, ringBudget } from '../geometry/ring-budget.js'
import { limits } from '../limits.js'
import type { DrawnCollection, DrawnFeature, Position } from '../notations/drawn.js'
import { readCircle, readPolygon } from './coordinates.js'
import { CapFaults } from './faults.js'
import { areaNameOf, systemOf } from './geocode-systems.js'
import { chosenInfos, type InfoChoice } from './infos.js'
import type { Alert, AlertArea, AlertInfo, AlertText } from './model.js'
import { type CapProfile, checkProfile } from './profiles.js'
import { type CapWarning, CapWarnings } from './warnings.js'

export interface CapOptions extends InfoChoice {
  /**
   * `union`: geocodes count beside polygons and circles, as CAP says. `fallback`: only in an area that has neither,
   * as profiles say. Left out, it is `fallback` with a profile and `union` without.
   */
  readonly geocodes?: 'union' | 'fallback'
  /** Of geocodes only those of these systems count. */
  readonly geocodeSystems?: readonly string[]
  readonly profile?: CapProfile
}

export interface CapDrawing {
  readonly drawing: DrawnCollection
  /** Where in the alert each feature comes from. */
  readonly paths: readonly string[]
  /** By the names of areas: where in the alert the geocode is that is one. */
  readonly geocodePaths: ReadonlyMap<string, string>
  readonly warnings: readonly CapWarning[]
}

/**
 * Polygons and circles as GeoJSON, circles with `radius` in metres; geocodes as features without geometry, whose
 * property `area` has the names for the gazetteer.
 *
 * @throws ServiceError  the first thing that is wrong
 */
export function drawingOfAlert(alert: Alert, options: CapOptions): CapDrawing {
  const faults = new CapFaults()
  const drawing = inspectDrawing(alert, options, faults)
  faults.refuse()
  return drawing
}

/** The same, for whoever is to be told everything: where there are faults, the drawing lacks what is at fault. */
export function inspectDrawing(alert: Alert, options: CapOptions, faults: CapFaults): CapDrawing {
  const warnings = new CapWarnings()
  tellOfMessage(alert, warnings)
  const infos = chosenInfos(alert, options, faults, warnings)
  if (options.profile !== undefined) checkProfile(alert, options.profile, faults, warnings)
  const drawer = new AlertDrawer(options, faults, warnings)
  let areaCount = 0
  for (const info of infos) {
    areaCount += info.areas.length
    // A Cancel may say no more than what it cancels.
    if (info.areas.length === 0 && alert.msgType !== 'Cancel') {
      faults.add('CapAreaMissing', info.path, 'has no area: nobody knows who it is for')
    }
    drawer.draw(info)
  }
  if (areaCount === 0 && faults.list.length === 0) {
    faults.add('CapAreaMissing', alert.path, whyNoArea(alert))
  }
  return { ...drawer.finish(alert.path), warnings: warnings.list() }
}

function whyNoArea({ msgType }: Alert): string {
  if (msgType === 'Alert' || msgType === 'Update') return 'has no info with an area'
  return 'has no area of its own: it is for whoever got the alerts in its references'
}

function tellOfMessage(alert: Alert, warnings: CapWarnings): void {
  const { status, scope, msgType, path, sent, infos } = alert
  if (status !== 'Actual')
    warnings.add('CapNotActual', `${path}.status`, `is ${status}, not Actual`)
  if (msgType !== 'Alert' && msgType !== 'Update') {
    warnings.add('CapMessageType', `${path}.msgType`, `is ${msgType}: it alerts nobody anew`)
  }
  if (scope !== undefined && scope !== 'Public') {
    const problem = `is ${scope}: the alert is not for the public, and all of its areas are selected`
    warnings.add('CapNotPublic', `${path}.scope`, problem)
  }
  if (alert.isSigned)
    warnings.add('SignatureNotChecked', path, 'is signed; the signature is not checked')
  if (!alert.areReferencesWhole) {
    warnings.add('ReferencesUnread', `${path}.references`, 'is not "sender,identifier,sent"')
  }
  const times = infos.flatMap(({ effective, onset, expires }) => [effective, onset, expires])
  if ([sent, ...times].some((time) => time?.isAsWritten === false)) {
    const problem =
      'has a time that CAP writes with an offset, such as -00:00, and without fractions'
    warnings.add('CapForm', path, problem)
  }
}

class AlertDrawer {
  readonly #faults: CapFaults
  readonly #warnings: CapWarnings
  readonly #budget: RingBudget = ringBudget(limits.capComparisonCount)
  readonly #features: DrawnFeature[] = []
  readonly #paths: string[] = []
  readonly #geocodePaths = new Map<string, string>()
  /** What was drawn: blocks in other languages repeat their areas. */
  readonly #drawn = new Set<string>()
  readonly #isFallback: boolean
  readonly #systems: ReadonlySet<string> | undefined
  #vertexCount = 0

  constructor(options: CapOptions, faults: CapFaults, warnings: CapWarnings) {
    this.#faults = faults
    this.#warnings = warnings
    const rule = options.geocodes ?? (options.profile === undefined ? 'union' : 'fallback')
    this.#isFallback = rule === 'fallback'
    const named = options.geocodeSystems?.map((name) => (systemOf(name) ?? name).toLowerCase())
    this.#systems = named === undefined ? undefined : new Set(named)
  }

  draw({ areas }: AlertInfo): void {
    for (const area of areas) this.#drawArea(area)
  }

  finish(path: string): Omit<CapDrawing, 'warnings'> {
    if (this.#features.length > limits.featureCount) {
      const problem = `has more than ${limits.featureCount} areas and circles`
      this.#faults.add('TooComplex', path, problem)
    }
    if (this.#vertexCount > limits.vertexCount) {
      this.#faults.add('TooManyVertices', path, `has more than ${limits.vertexCount} points`)
    }
    return {
      drawing: { type: 'FeatureCollection', features: this.#features },
      paths: this.#paths,
      geocodePaths: this.#geocodePaths,
    }
  }

  #drawArea(area: AlertArea): void {
    const { path, altitude, ceiling } = area
    const isDrawn = [...area.polygons, ...area.circles].some(({ text }) => text !== '')
    if (altitude !== undefined || ceiling !== undefined) {
      this.#warnings.add(
        'AltitudeIgnored',
        path,
        'has an altitude, which selects nobody and excludes nobody',
      )
    }
    const hasMore = isDrawn || area.geocodes.length > 0
    this.#checkHoles(area)
    this.#drawPolygons(area, hasMore)
    this.#drawCircles(area, hasMore)
    if (area.geocodes.length === 0) {
      if (area.polygons.length === 0 && area.circles.length === 0) this.#missing(path)
    } else if (isDrawn && this.#isFallback) {
      const problem = 'has a polygon or a circle, and its geocodes are left out'
      this.#warnings.add('GeocodesLeftOut', path, problem)
    } else {
      this.#drawGeocodes(area, isDrawn)
    }
  }

  /** A hole is one of all that its area selects, and can be cut out of polygons alone. */
  #checkHoles({ polygons, circles, holes }: AlertArea): void {
    if (holes.length === 0) return
    const [{ path }] = holes
    if (polygons.every(({ text }) => text === '')) {
      this.#faults.add('CapExclusion', path, 'is a hole, and its area has no polygon with it')
    }
    if (circles.some(({ text }) => text !== '')) {
      const problem = 'is a hole, which cannot be cut out of the circles of its area'
      this.#faults.add('CapExclusion', path, `${problem}: write them as polygons`)
    }
  }

  /** @param hasMore  whether the area says more than its empty shapes do */
  #drawPolygons({ polygons, holes, path }: AlertArea, hasMore: boolean): void {
    const rings: (readonly Position[])[][] = []
    const holesText = holes.map(({ text }) => ` hole ${text}`).join('')
    const shells = polygons.filter(
      (polygon) =>
        !(hasMore && this.#isEmpty(polygon)) && this.#isNew(`polygon ${polygon.text}${holesText}`),
    )
    if (shells.length === 0) return
    const holeRings = holes.flatMap((hole) => this.#ringOf(hole))
    const holeVertexCount = holeRings.reduce((sum, ring) => sum + ring.length, 0)
    for (const polygon of shells) {
      for (const shell of this.#ringOf(polygon)) {
        this.#vertexCount += shell.length + holeVertexCount
        if (this.#vertexCount > limits.vertexCount) return
        rings.push([shell, ...holeRings])
      }
    }
    if (rings.length === 0) return
    const geometry =
      rings.length === 1
        ? { type: 'Polygon' as const, coordinates: rings[0] }
        : { type: 'MultiPolygon' as const, coordinates: rings }
    this.#push({ type: 'Feature', geometry, properties: {} }, path)
  }

  /** A closed ring that does not cross itself; none where it is at fault. */
  #ringOf(polygon: AlertText): (readonly Position[])[] {
    const ring = readPolygon(polygon, this.#faults)
    if (ring === undefined) return []
    const crossing = crossesItself(ring, this.#budget)
    if (crossing === 'TooDense') {
      const problem = 'is too dense to tell whether it crosses itself'
      this.#faults.add('TooComplex', polygon.path, problem)
    } else if (crossing) {
      const problem = 'crosses itself: correct the order of its points'
      this.#faults.add('CapPolygonCrossing', polygon.path, problem)
    }
    return [ring]
  }

  #drawCircles({ circles }: AlertArea, hasMore: boolean): void {
    for (const each of circles) {
      if (hasMore && this.#isEmpty(each)) continue
      if (!this.#isNew(`circle ${each.text}`)) continue
      const circle = readCircle(each, this.#faults)
      if (circle === undefined) continue
      const geometry = { type: 'Point' as const, coordinates: circle.centre }
      if (circle.radiusMetres === 0) {
        this.#warnings.add(
          'CirclePoint',
          each.path,
          'has the radius 0, and selects who is exactly there',
        )
      }
      const properties = circle.radiusMetres === 0 ? {} : { radius: circle.radiusMetres }
      this.#push({ type: 'Feature', geometry, properties }, each.path)
    }
  }

  #drawGeocodes({ geocodes, holes, path }: AlertArea, isDrawn: boolean): void {
    const names: string[] = []
    const systems = new Set<string>()
    let usedCount = 0
    for (const geocode of geocodes) {
      const name = areaNameOf(geocode)
      if (!this.#isAskedFor(systemOf(geocode.name)) && !this.#isAskedFor(layerOf(name))) continue
      usedCount++
      if (name === undefined) {
        const problem = 'is of a system of codes that is not known, or is no code'
        this.#faults.add('UnknownGeocodeSystem', geocode.path, problem)
        continue
      }
      systems.add(layerOf(name))
      if (this.#geocodePaths.has(name)) continue
      this.#geocodePaths.set(name, geocode.path)
      names.push(name)
    }
    if (usedCount === 0) {
      if (!isDrawn) {
        this.#faults.add('CapAreaMissing', path, 'has no geocode of the systems that are asked for')
      }
      return
    }
    if (holes.length > 0) {
      const problem = 'is a hole, which cannot be cut out of the geocodes of its area'
      const advice = 'to leave these out, say geocodes=fallback'
      this.#faults.add('CapExclusion', holes[0].path, `${problem}: ${advice}`)
    }
    if (isDrawn) {
      const problem = 'has geocodes beside a polygon or a circle: all of them are selected'
      this.#warnings.add('PolygonAndGeocodes', path, problem)
    }
    if (systems.size > 1) {
      const problem = 'has geocodes of several systems: all of them are selected'
      this.#warnings.add('SeveralGeocodeSystems', path, problem)
    }
    if (names.length === 0) return
    const area = names.length === 1 ? names[0] : names
    this.#push({ type: 'Feature', geometry: null, properties: { area } }, path)
  }

  #isAskedFor(system: string | undefined): boolean {
    return this.#systems?.has(system?.toLowerCase() ?? '') ?? true
  }

  /** Publishers leave an empty element beside geocodes. Alone, it is a shape that was lost. */
  #isEmpty({ text, path }: AlertText): boolean {
    if (text !== '') return false
    this.#warnings.add('EmptyShape', path, 'is empty, and selects nobody')
    return true
  }

  #missing(path: string): void {
    this.#faults.add('CapAreaMissing', path, 'has no polygon, no circle and no geocode')
  }

  #push(feature: DrawnFeature, path: string): void {
    this.#features.push(feature)
    this.#paths.push(path)
  }

  #isNew(key: string): boolean {
    if (this.#drawn.has(key)) return false
    this.#drawn.add(key)
    return true
  }
}

/** `SAME` of `SAME:048201`, as which FIPS6 is looked up, too. */
function layerOf<Name extends string | undefined>(name: Name): Name {
  return name?.slice(0, name.indexOf(':')) as Name
}
