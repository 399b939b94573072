/**
 * Answers in GeoJSON (RFC 7946) for the OpenAPI document: a FeatureCollection with foreign members.
 *
 * @module
 */
import type { JsonSchema } from './open-api-schema.js'

export const geoJsonSchemas: Readonly<Record<string, JsonSchema>> = {
  FeatureCollection: {
    description:
      'A FeatureCollection of GeoJSON (RFC 7946). Other members say what holds for all of it: the ' +
      'SourceRecords, NextAfter and Warnings of recipients, Id and ContextName of a context, ToleranceMetres of outlines.',
    type: 'object',
    required: ['type', 'features'],
    properties: {
      type: { type: 'string', enum: ['FeatureCollection'] },
      features: { type: 'array', items: { $ref: '#/components/schemas/Feature' } },
    },
    additionalProperties: true,
  },
  Feature: {
    description: 'A recipient, an area of a context, or an outline.',
    type: 'object',
    required: ['type', 'geometry', 'properties'],
    properties: {
      type: { type: 'string', enum: ['Feature'] },
      id: { type: 'string', description: 'Of an area: its Id.' },
      geometry: {
        description: 'Null where it is nowhere, or where an outline could not be united.',
        anyOf: [{ $ref: '#/components/schemas/FeatureGeometry' }, { type: 'null' }],
      },
      properties: {
        type: 'object',
        description:
          'SourceId and Number of a recipient, the members of an area but Geometry, or the ' +
          'SourceIds of an outline.',
        additionalProperties: true,
      },
    },
  },
  FeatureGeometry: {
    description: 'Positions are longitude and latitude in degrees.',
    oneOf: [geometry('Point', 1), geometry('Polygon', 3), geometry('MultiPolygon', 4)],
  },
}

/** @param depth  how many lists a number is in */
function geometry(type: string, depth: number): JsonSchema {
  return {
    type: 'object',
    required: ['type', 'coordinates'],
    properties: { type: { type: 'string', enum: [type] }, coordinates: nested(depth) },
  }
}

function nested(depth: number): JsonSchema {
  return depth === 0 ? { type: 'number' } : { type: 'array', items: nested(depth - 1) }
}
