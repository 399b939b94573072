/**
 * A map context: a named set of areas, each with its shape, how it is shown and who lives there.
 *
 * @module
 */
import { type Static, Type } from 'typebox'
import { GeometrySchema } from './geometry.js'
import { members } from './members.js'

const text = Type.String()
const flag = Type.Boolean()

const ContactSchema = members({ Label: text, Count: Type.Number() })

const AreaSchema = members({
  Id: text,
  Name: text,
  Geometry: GeometrySchema,
  DomId: text,
  ShapeType: text,
  IsVisible: flag,
  IsSelected: flag,
  IsActive: flag,
  IsUpdatingContactList: flag,
  Contacts: Type.Array(ContactSchema),
  ContactTotalCount: Type.Number(),
  HasContactCountError: flag,
  HasInvalidShapeError: flag,
})

export const MapContextSchema = members({
  /** A Guid, as 32 hexadecimal digits. */
  Id: text,
  ContextName: text,
  Areas: Type.Array(AreaSchema),
})

export type Contact = Static<typeof ContactSchema>
export type Area = Static<typeof AreaSchema>
export type MapContext = Static<typeof MapContextSchema>
