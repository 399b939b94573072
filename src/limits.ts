/**
 * Every bound of the service in one place; the unit is the last word of each name.
 * Relations between bounds are asserted when the module loads.
 *
 * @module
 */
import assert from 'node:assert/strict'

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  /** A request body; one byte more is answered 413. */
  bodyBytes: 4 * MiB,
  /** Read beyond a body that is too large, and thrown away, so that its sender reads the 413. */
  discardBytes: 64 * MiB,
  /** Time for which a body that was refused is read on. */
  discardMs: 10_000,
  /** Unfinished bodies of one front thread, or those that wait to be unpacked; more get a 503. */
  heldBodyBytes: 256 * MiB,
  /** Bodies that one front thread unpacks at a time: each holds what has come out of it so far. */
  bodiesUnpackedCount: 4,
  /** From the head of a request to the end of its body. */
  bodyMs: 30_000,
  /** Connections of one front thread; more are closed as they arrive. */
  connectionCount: 20_000,
  /** Requests of one front thread that are not answered yet; more are answered 503. */
  openExchangeCount: 8_192,
  /**
   * The last answer of a connection up to this is handed over whole, since it fits into the buffer of
   * the HTTP library with its headers; all others as fast as the client reads.
   */
  directReplyBytes: 12 * KiB,
  /** Answers shorter than this, about one packet, are not compressed. */
  compressMinBytes: 1_400,
  /** The name of the function that a JSONP answer calls. */
  callbackCharCount: 128,
  /** Time without room for more of an answer, after which its reader is cut off. */
  clientStallMs: 30_000,
  /** What a reader must take, as soon as it was waited for that long; a slower one is cut off. */
  clientBytesPerSecond: 32 * KiB,
  /** A configuration or context document. */
  documentBytes: 16 * MiB,
  /** Contexts of one data directory. */
  contextCount: 10_000,
  /** Areas of one context. */
  areaCount: 2_000,
  /** Areas of all contexts of one data directory. */
  storedAreaCount: 200_000,
  /** All contexts of one data directory, as they are stored. */
  storedBytes: 1 * GiB,
  /** Characters of the name of a context. */
  contextNameCharCount: 1_000,
  /** Address space for the store, with room for what is counted and for pages that were freed. */
  storeMapBytes: 16 * GiB,
  /** Threads of all processes that have one store open. */
  storeReaderCount: 1_024,
  /** From a change's being asked for to its being on disk. */
  storeChangeMs: 10_000,
  /** To read a whole store before it is opened. */
  storeCheckMs: 120_000,
  /** Numbers on all do-not-contact lists of one data directory together. */
  suppressionCount: 5_000_000,
  /** Do-not-contact lists of one data directory: one for all sources, the others for one each. */
  suppressionListCount: 1_024,
  /** Numbers of one change to a do-not-contact list. */
  suppressionBatchCount: 10_000,
  /** Numbers in the log of the latest changes; who is further behind reads all lists again. */
  suppressionLogCount: 1_000_000,
  /** From one look for changes that other processes made to the next. */
  suppressionPollMs: 100,
  /** From a change's being on disk to every running service's answering by it. */
  suppressionTakeMs: 8_000,
  /** The same for all changes of one `hickory suppress`. */
  suppressionCommandMs: 60_000,
  /** Numbers in a page of a do-not-contact list, unless the request says. */
  suppressionPageDefaultCount: 100,
  /** Numbers in a page of a do-not-contact list, whatever the request says. */
  suppressionPageCount: 10_000,
  /** Contexts in a list, unless the request says. */
  contextPageDefaultCount: 100,
  /** Contexts in a list, whatever the request says. */
  contextPageCount: 1_000,
  /** Complete answers of contexts that one front thread keeps. */
  keptAnswerBytes: 64 * MiB,
  /** Shapes of contexts that one front thread counts at a time. */
  shapesCountedCount: 4,
  /** Shapes of contexts that wait to be counted in one front thread. */
  shapesWaitingCount: 4_000,
  /** For which counts wait for others, to be stored together. */
  countsStoreDelayMs: 100,
  /** From a failure to count a shape to the next attempt. */
  countRetryMs: 10_000,
  /** Shapes whose failure to be counted is remembered. */
  countFailureCount: 10_000,
  /** Nesting of arrays and objects in a JSON body. */
  jsonDepthCount: 64,
  /** Members of all objects of a JSON body together. */
  jsonMemberCount: 65_536,
  /** Arrays, objects and commas of a JSON body together. */
  jsonItemCount: 400_000,
  /** Characters of a member's name that is read in any letter case. */
  memberNameCharCount: 64,
  /** Requests of one batch. */
  batchRequestCount: 1_000,
  /** What the answers of one batch take until they are written. */
  batchHeldBytes: 64 * MiB,
  /** Features of one request. */
  featureCount: 1_000,
  /** Rings of one request, over all its features. */
  ringCount: 10_000,
  /** Positions of one request, over all its rings. */
  vertexCount: 50_000,
  /** Arcs of the circles, corridors and margins of one request. */
  arcCount: 100_000,
  /**
   * Comparisons of edges of one request, 0.2 to 0.4 seconds of a front thread: to find which rings of
   * Esri polygons are holes, and which edges bound a polygon that has a margin.
   */
  ringComparisonCount: 4_000_000,
  /** Recipients of a source that one feature may pick as the nearest. */
  nearestCount: 10_000,
  /** Features of one request that pick the nearest. */
  nearestFeatureCount: 100,

  /** Edge tests of one task, one to three seconds of one core; beyond it a request is refused. */
  edgeTestCount: 2_000_000_000,
  /** From the moment a request is read to the moment its answer must begin. */
  requestMs: 10_000,
  /** Tasks that one front thread has under way or waiting at its query workers. */
  tasksQueuedCount: 4_096,
  /**
   * Tasks handed to one query worker at a time: the second hides the trip between threads, and each
   * further one would only wait behind a slow one while another worker is idle.
   */
  tasksPerWorkerCount: 2,
  /** Small selections that travel to a worker together. */
  queriesPerTaskCount: 16,
  /**
   * Small selections that wait before another task is sent, as long as one is under way that will
   * not take long: fewer and larger tasks cost less.
   */
  queriesGatheredCount: 16,
  /** Tasks of small selections that take less than this on average are waited for. */
  shortTaskMs: 1,
  /** For which they are waited for, since some take far longer than the average. */
  gatherMs: 10,
  /** Vertices and arcs of a selection that still is a small one. */
  smallVertexCount: 512,
  /** A body up to this is taken for that of a small selection until it is read. */
  smallBodyBytes: 16 * KiB,
  /** Since the last small selection, for which one worker is kept free of the rows of lists. */
  smallRecentMs: 100,
  /** For which the first of the small selections may wait; then further requests are answered 503. */
  smallWaitMs: 250,
  /** The same for large ones. */
  largeWaitMs: 2_000,
  /** Between two looks for work whose time is over. */
  deadlineCheckMs: 20,
  /** Times that a task is tried when the worker that held it dies. */
  taskAttemptCount: 2,
  /** Shards of one request beyond which it is split over several workers. */
  shardsPerTaskCount: 4,
  /** Images of shards in one arena, beside the scratch zones. */
  arenaImageBytes: 2 * GiB,
  /** What one query worker may use of each arena; its system gives it what it touches. */
  scratchZoneBytes: 16 * MiB,
  /** Scratch zones of one arena; further query workers do without. */
  scratchZoneCount: 128,
  /** Edges of a table in a scratch zone; a larger table lies elsewhere. */
  scratchEdgeCount: 50_000,
  /** Recipients that a request may ask for with `limit`; without it a list is as long as it is. */
  pageRecipientCount: 10_000_000,
  /** Rows of a list that are encoded at a time, as far as there is room for them. */
  rowsPerChunkCount: 2_048,
  /** Pieces of one list that are encoded at a time, as long as its client keeps up. */
  piecesAheadCount: 3,
  /** Room for rows that are encoded at a time. */
  rowBufferBytes: 256 * KiB,
  /** Such rooms that one front thread keeps for further use. */
  rowBufferCount: 64,
  /** Vertices that the shapes of an outline may have once they are drawn, and an outline itself. */
  outlineVertexCount: 100_000,
  /** From the moment a thread begins to unite the shapes of an outline to its being ended. */
  outlineMs: 3_000,
  /** The same while others wait, so that a few that take long do not keep out all the others. */
  outlineSharedMs: 1_000,
  /** Kept of the time of a request for listing shapes that could not be united. */
  outlineDrawMs: 2_000,
  /** Outlines that wait for one front thread's clipping thread, beside the one it works on. */
  outlinesQueuedCount: 16,
  /** What JavaScript may hold on a clipping thread; one that takes more is ended. */
  clipHeapBytes: 512 * MiB,
  /** Ends of edges, and edges, that polygon-clipping may hold before it takes its work for endless. */
  clipEventCount: 500_000,
  /** Time without an outline after which the clipping thread is ended. */
  clipIdleMs: 60_000,
  /** From the wish to stop to the closing of idle connections, so that clients learn of it. */
  drainQuietMs: 1_500,
  /** From the wish to stop to the breaking off of requests that are still open. */
  drainMs: 12_000,
  /** From the wish to stop to giving up on a clean end. */
  stopMs: 30_000,
  /** From a failure to the end of the process, while connections are closed. */
  breakOffMs: 3_000,
  /** From the start of a query worker to its being ready. */
  workerStartMs: 30_000,
  /** For which a pool that is closed waits for workers that are being started. */
  workerLoadMs: 5_000,
  /** Between two replacements of all query workers of a front thread, at most. */
  workersReplaceMs: 5_000,
  /** From the wish to close a pool to its being destroyed. */
  poolCloseMs: 10_000,

  /** One record of an input that is text: a line of CSV or NDJSON, a feature of a collection. */
  recordBytes: 64 * KiB,
  /** What a GeoJSON FeatureCollection has beside its features. */
  collectionFrameBytes: 1 * MiB,
  /** Files of one source. */
  sourceFileCount: 10_000,
  /** UTF-8 bytes of a recipient's number. */
  numberBytes: 64,
  /** UTF-8 bytes of a contact id. */
  contactBytes: 128,
  /** UTF-8 bytes of the key of a row. */
  keyBytes: 128,
  /** UTF-8 bytes of a source's label. */
  labelBytes: 128,
  /** Ids of sources run from 0 to this. */
  sourceIdMax: 2_147_483_647,
  /** Sources in one snapshot. */
  sourceCount: 256,
  /** Recipients that one shard aims to hold; a source is cut into as few equal shards as fit. */
  shardRecipientCount: 1_000_000,
  /** Recipients of one source (offsets into their text are 32-bit). */
  sourceRecipientCount: 200_000_000,
  /** Threads that work on one import. */
  importThreadCount: 16,
  /** From this many recipients on, threads are started for them. */
  threadlessRecipientCount: 100_000,
  /** To connect to a database of recipients, and to be let in. */
  databaseConnectMs: 15_000,
  /** Without a byte from a database, which may sort before it sends, until it is given up. */
  databaseStallMs: 600_000,
  /** Rows that a dry run shows. */
  previewRowCount: 1_000,
  /** Sources named in the message that they failed. */
  failuresShownCount: 20,
  /** A file that lists the sources of an import. */
  sourcesFileBytes: 1 * MiB,
  /** Examples kept of each reason for which rows were rejected. */
  rejectExampleCount: 5,
  /** Snapshots kept on disk, the current one among them. */
  snapshotCount: 3,
  /** From one look for a new snapshot to the next. */
  snapshotPollMs: 1_000,
  /** From the refusal of a snapshot to the next attempt to load it. */
  snapshotRetryMs: 60_000,
  /** For which a snapshot that was replaced is read to the end while a newer one waits. */
  snapshotReleaseMs: 60_000,
  /** Threads that load a snapshot, on a machine with as many cores. */
  loadThreadCount: 8,
  /** The header of a shard file, before it is unpacked. */
  shardHeaderBytes: 1 * MiB,
} as const

assert(limits.storeMapBytes >= 4 * limits.storedBytes)
assert(limits.suppressionLogCount >= limits.suppressionBatchCount)
assert(limits.suppressionCount >= limits.suppressionBatchCount)
assert(limits.jsonItemCount >= 2 * limits.suppressionBatchCount)
assert(limits.storedBytes >= limits.documentBytes && limits.documentBytes >= limits.bodyBytes)
assert(limits.storedAreaCount >= limits.areaCount)
const arenaZoneBytes = limits.scratchZoneCount * limits.scratchZoneBytes
assert(arenaZoneBytes + limits.arenaImageBytes <= 4 * GiB, 'addresses in an arena are 32-bit')
assert(limits.scratchEdgeCount >= limits.vertexCount)
assert(limits.heldBodyBytes >= limits.bodyBytes)
assert(limits.vertexCount >= limits.ringCount)
assert(limits.arcCount >= limits.vertexCount)
assert(limits.outlineVertexCount >= limits.vertexCount)
assert(limits.outlineMs + limits.outlineDrawMs < limits.requestMs)
assert(limits.outlineSharedMs <= limits.outlineMs)
// A position is an array of three coordinates at most that mean something, and a comma.
assert(limits.jsonItemCount >= 4 * limits.vertexCount + 2 * limits.jsonMemberCount)
assert(limits.jsonMemberCount >= 32 * limits.featureCount)
assert(limits.numberBytes * limits.shardRecipientCount < 2 ** 32, 'text offsets are 32-bit')
assert(limits.shardRecipientCount < 2 ** 26, 'two ends of a run are packed into one number')
