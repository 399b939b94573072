/**
 * The body of every answer that is not a success.
 *
 * @module
 */
import { Type } from '#typebox'
import { errorTables, type ServiceErrorCode } from '../errors.js'
import { listOf, member, members, text } from './members.js'

const ErrorCodeSchema = Type.Unsafe<ServiceErrorCode>({
  title: 'ErrorCode',
  description: 'What went wrong. Match this, never a message.',
  type: 'string',
  enum: Object.keys(errorTables.serviceErrors),
})

const MESSAGE = 'What went wrong, for people; may change, and never repeats what was sent.'

const ResponseErrorSchema = members('ResponseError', 'What is wrong with one member.', {
  ErrorCode: member(ErrorCodeSchema, 'What is wrong with it.'),
  FieldName: text('Path of the member, such as geoJSON.features[2].geometry.'),
  Message: text(MESSAGE),
})

const ResponseStatusSchema = members('ResponseStatus', 'Why a request was not answered.', {
  ErrorCode: member(ErrorCodeSchema, 'What went wrong.'),
  Message: text(MESSAGE),
  Errors: listOf(ResponseErrorSchema, 'The members at fault; empty where there is none.'),
  Meta: Type.Record(Type.String(), Type.String(), {
    description: 'In a batch: AutoBatchIndex, the index of the request that failed, from 0.',
  }),
})

export const ErrorResponseSchema = members('ErrorResponse', 'The body of every error.', {
  ResponseStatus: member(ResponseStatusSchema, 'Why the request was not answered.'),
})
