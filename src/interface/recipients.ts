/**
 * The recipient request and its response. The schemas describe and document; on the way of a
 * request, parsing and validating are done by code that is made for it.
 *
 * @module
 */
import { type Static, Type } from 'typebox'
import { members } from './members.js'

/** The spelling of samples; `GeoJson`, `Shapes` and other cases are understood as well. */
const ShapeSchema = members({
  type: Type.String(),
  /** Coordinates nest as deep as the type of the geometry asks. */
  geometry: members({ type: Type.String(), coordinates: Type.Array(Type.Unknown()) }),
  properties: Type.Record(Type.String(), Type.Unknown()),
})

export const RecipientRequestSchema = members({
  countsOnly: Type.Boolean(),
  geoJSON: members({ type: Type.String(), features: Type.Array(ShapeSchema) }),
})

const RecipientSchema = members({
  Number: Type.String(),
  LatLng: members({ Lat: Type.Number(), Lng: Type.Number() }),
})

const SourceRecordSchema = members({
  SourceId: Type.Integer(),
  Label: Type.String(),
  Count: Type.Integer(),
  Status: Type.String(),
  /** Left out when only counts were asked for. */
  Recipients: Type.Array(RecipientSchema),
})

export const RecipientResponseSchema = members({
  SourceRecords: Type.Array(SourceRecordSchema),
})

export type RecipientRequest = Static<typeof RecipientRequestSchema>
export type Recipient = Static<typeof RecipientSchema>
export type SourceRecord = Static<typeof SourceRecordSchema>
export type RecipientResponse = Static<typeof RecipientResponseSchema>
