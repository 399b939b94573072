/**
 * The members of a collection, a feature or a geometry, found in one pass.
 *
 * @module
 */
import { lowerCase } from '../../interface/letter-case.js'
import type { JsonObject } from '../parse.js'
import { ESRI_MEMBERS } from './esri.js'
import { NOTATION_NAMES } from './notations.js'
import { PROPERTY_NAMES } from './property-names.js'
import { likenessOfMember } from './strange-names.js'

/** The one member that has the shape. */
type ShapeMember = (typeof SHAPE_MEMBERS)[number]

const SHAPE_MEMBERS = [
  'features',
  'geometry',
  'geometries',
  'coordinates',
  'rings',
  'paths',
  'points',
] as const

/** Reused from object to object, so that an object costs none of its own. */
export class ShortMembers {
  type: unknown
  shapeMember: ShapeMember | undefined
  /** The value of `shapeMember`. */
  shape: unknown
  properties: unknown
  attributes: unknown
  crs: unknown
  spatialReference: unknown
  /** Whether there is a member of an Esri point, envelope or curve. */
  isOtherEsri = false

  /** @returns false for members that are given twice, do not belong here, or may be misspelt */
  find(object: JsonObject): boolean {
    this.type = undefined
    this.shapeMember = undefined
    this.shape = undefined
    this.properties = undefined
    this.attributes = undefined
    this.crs = undefined
    this.spatialReference = undefined
    this.isOtherEsri = false
    let like: 'type' | 'properties' | 'spatialReference' | undefined
    for (const name in object) {
      const slot = SLOTS.get(name) ?? SLOTS.get(lowerCase(name))
      if (slot !== undefined) {
        if (!this.#put(slot, object[name])) return false
        continue
      }
      const likeness = likenessOfMember(name)
      if (likeness === undefined) continue
      // One that is nearly a member means nothing where the object has that member.
      if (likeness.kind !== 'member' || like !== undefined) return false
      like = likeness.name
    }
    return like === undefined || this[like] !== undefined
  }

  #put(slot: Slot, value: unknown): boolean {
    switch (slot) {
      case 'type':
      case 'properties':
      case 'attributes':
      case 'crs':
      case 'spatialReference':
        if (this[slot] !== undefined) return false
        this[slot] = value
        return true
      case 'otherEsri':
        this.isOtherEsri = true
        return true
      case 'misplaced':
        return value === null || value === false
      default:
        if (this.shapeMember !== undefined) return false
        this.shapeMember = slot
        this.shape = value
        return true
    }
  }
}

type Slot =
  | ShapeMember
  | 'type'
  | 'properties'
  | 'attributes'
  | 'crs'
  | 'spatialReference'
  | 'otherEsri'
  | 'misplaced'

/** By names as they are nearly always spelt, and in lower case. */
const SLOTS: ReadonlyMap<string, Slot> = new Map<string, Slot>([
  ...[...PROPERTY_NAMES, ...NOTATION_NAMES].map((name) => [name, 'misplaced'] as const),
  ...ESRI_MEMBERS.map((name) => [name, 'otherEsri'] as const),
  ...SHAPE_MEMBERS.map((name) => [name, name] as const),
  ['shapes', 'features'],
  ['type', 'type'],
  ['properties', 'properties'],
  ['attributes', 'attributes'],
  ['crs', 'crs'],
  ['spatialReference', 'spatialReference'],
  ['spatialreference', 'spatialReference'],
])
