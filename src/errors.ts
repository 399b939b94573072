/**
 * The table of everything that can go wrong for a reason outside our own code: what a client is
 * told (an HTTP status and a code) and what an operator is told (an exit code).
 * Failures that are not in this table are our bugs: assert, and let the edge log them once.
 *
 * @module
 */

/** Faults of a request. Clients match `ErrorCode`, never the text of the message. */
const serviceErrors = {
  InvalidJson: 400,
  InvalidRequest: 400,
  UnknownMember: 400,
  InvalidGeoJson: 400,
  UnknownGeometryType: 400,
  LongitudeOutOfRange: 400,
  LatitudeOutOfRange: 400,
  DegenerateRing: 400,
  AmbiguousRing: 400,
  CrossingRings: 400,
  AmbiguousLine: 400,
  RadiusNotPositive: 400,
  InvalidRadius: 400,
  InvalidNearest: 400,
  UnknownSpatialReference: 400,
  UnknownSource: 400,
  /** A name that no layer of the gazetteer has. */
  UnknownArea: 404,
  InvalidXml: 400,
  InvalidWkt: 400,
  InvalidWkb: 400,
  InvalidBbox: 400,
  InvalidH3Cell: 400,
  InvalidGeohash: 400,
  InvalidPolyline: 400,
  InvalidGridReference: 400,
  InvalidKml: 400,
  InvalidGpx: 400,
  InvalidTopoJson: 400,
  /** An alert of the Common Alerting Protocol is not as CAP has it. */
  InvalidCap: 400,
  CapPolygonOpen: 400,
  CapPolygonTooFewPoints: 400,
  CapPolygonCrossing: 400,
  /** Latitude and longitude are in the wrong order: as they are, no such place exists. */
  AxesExchanged: 400,
  /** An alert, or an area of one, does not say where it is. */
  CapAreaMissing: 400,
  /** An area excludes in a way that cannot be followed; to leave that out would widen it. */
  CapExclusion: 400,
  CapLanguageMissing: 400,
  UnknownGeocodeSystem: 400,
  InvalidChange: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  /** There is no such audience, or no longer, or not for this key. */
  UnknownAudience: 404,
  MethodNotAllowed: 405,
  /** An operation that does not exist, named as clients of ServiceStack know it. */
  NotImplementedException: 405,
  NotAcceptable: 406,
  RequestTimeout: 408,
  AlreadyExists: 409,
  /** One must be deleted or expire before another is made. */
  TooManyAudiences: 409,
  /** Another alert is kept under the same identifier, and an alert never changes. */
  AlertConflict: 409,
  /** Other changes were taken under the same id. */
  BatchConflict: 409,
  /** A batch of changes would delete a large part of a source. */
  TooManyDeletes: 409,
  /** The snapshot does not say what the recipients of a source are known by. */
  IdentitiesMissing: 409,
  CursorExpired: 410,
  LengthRequired: 411,
  /** A change that is to depend on what is stored, which none does. */
  PreconditionFailed: 412,
  BodyTooLarge: 413,
  UnsupportedEncoding: 415,
  ExpectationFailed: 417,
  CapExpired: 422,
  /** All that is chosen of an alert says that it is over, and only the rest was asked for. */
  CapEnded: 422,
  /** An alert breaks a rule of a profile that was asked for. */
  ProfileViolated: 422,
  AudienceTooLarge: 422,
  TooManyContexts: 422,
  TooManySuppressions: 422,
  TooManyVertices: 422,
  TooComplex: 422,
  /** More cells of a grid have recipients than an answer may have. */
  TooManyCells: 422,
  /** More people are selected than one request may put on a grid. */
  TooManyRecipients: 422,
  TooManyRequests: 429,
  InternalError: 500,
  /** What is on the disk of an audience, or of its snapshot, is not what was written. */
  AudienceDamaged: 500,
  /** What is stored of an area is not what was written. */
  AreaDamaged: 500,
  Overloaded: 503,
  NotReady: 503,
  /** Only recipients within the boundary may be counted and listed, and the configuration has none. */
  BoundaryMissing: 503,
  /** What must be recorded cannot be, and so is not done. */
  AuditUnavailable: 503,
  /** A batch of changes is not in the answer in time. */
  SequenceNotReached: 503,
  /** A machine of a cluster knows the audience, and lacks its files. */
  AudienceNotHere: 503,
  /** A machine of a cluster has not heard of changes for so long that it refuses lists. */
  Lagging: 503,
  Unavailable: 503,
} as const

/** Faults that end a command. */
const operatorErrors = {
  /** Anything that was not foreseen. */
  Failed: 1,
  /** A flag, a variable, the configuration file or an argument is wrong. */
  Usage: 2,
  /** There is no snapshot to serve. */
  SnapshotMissing: 3,
  /** A snapshot is there but does not verify. */
  SnapshotCorrupt: 4,
  /** The input cannot be read, or was rejected under `--strict`. */
  InputRejected: 5,
  /** Another import holds the data directory. */
  Locked: 6,
  /** This release of Node.js is not supported. */
  UnsupportedNode: 7,
  /** The address cannot be listened on. */
  AddressInUse: 8,
  /** The store is damaged, or there are documents from before there was a store. */
  DocumentInvalid: 9,
  /** Under `--keep-going`, some sources were published and others were not. */
  PartlyImported: 10,
  /** What was read is so unlike what is there that a guard holds it back. */
  Guarded: 11,
  /** An audit is not as it was written. */
  AuditDamaged: 12,
  /** A later version wrote what is stored, in a format that this one does not read. */
  NewerFormat: 13,
  /** The journal of changes is not as it was written, or a part of it is missing. */
  JournalDamaged: 14,
} as const

export type ServiceErrorCode = keyof typeof serviceErrors
export type OperatorErrorCode = keyof typeof operatorErrors

/** A request that cannot be answered. `field` is the path of the member that is at fault. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode
  readonly status: number
  readonly field: string | undefined

  constructor(code: ServiceErrorCode, message: string, field?: string) {
    super(message)
    this.code = code
    this.status = serviceErrors[code]
    this.field = field
  }
}

/** More than a key may have; the client is told when to come again. */
export class TooManyRequests extends ServiceError {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super('TooManyRequests', message)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The fault of every request for which there is no room. It is made once: a service that is full and
 * takes long to say so stays full.
 */
export const OVERLOADED = new ServiceError(
  'Overloaded',
  'there are too many requests; try again soon',
)

/** A command that cannot go on; the message says what is wrong and what to do. */
export class OperatorError extends Error {
  readonly code: OperatorErrorCode
  readonly exitCode: number

  constructor(code: OperatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.exitCode = operatorErrors[code]
  }
}

/** Both tables, for the documentation and its test. */
export const errorTables = { serviceErrors, operatorErrors } as const

/** What to do about damage, behind `; `, where no other machine has what is damaged. */
export const RESTORE = 'restore the data directory from a backup'

/** What a message says is wrong, without that. */
export function withoutAdvice(message: string): string {
  return message.split(`; ${RESTORE}`, 1)[0]
}
