/**
 * Every bound of the service in one place. The last word of each name is its unit. The module
 * asserts the relations between bounds when it loads.
 *
 * @module
 */
import assert from 'node:assert/strict'

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  /** A request body. A longer one is answered 413. */
  bodyBytes: 4 * MiB,
  /** Read and discarded of an oversized body, so that its sender reads the 413. */
  discardBytes: 64 * MiB,
  /** The service reads a refused body for this time. */
  discardMs: 10_000,
  /** While a service starts, so many bodies are waited for at a time. Clients of further ones are answered at once. */
  startingBodyCount: 256,
  /** Incomplete bodies of one front thread, or bodies that wait to be unpacked. More get a 503. */
  heldBodyBytes: 256 * MiB,
  /** Bodies that one front thread unpacks at a time. Each holds its output so far. */
  bodiesUnpackedCount: 4,
  /** Pairs of Accept and Content-Type whose meaning one front thread remembers. */
  knownOptionsCount: 256,
  /** From the head of a request to the end of its body. */
  bodyMs: 30_000,
  /** A connection without a request, or with headers that do not end, is closed after this time. */
  idleMs: 10_000,
  /** The headers of a request, where `node:http` reads them; uWebSockets.js has the same bound of its own. */
  headerBytes: 4 * KiB,
  /** Requests that a connection may send ahead of answers to `node:http`. With more it is closed. */
  pipelinedRequestCount: 64,
  /** Connections of one front thread. Further connections are closed as they arrive. */
  connectionCount: 20_000,
  /** Unanswered requests of one front thread. Further requests are answered 503. */
  openExchangeCount: 8_192,
  /** Clients of one front thread that watch contexts. Further ones are answered 503. */
  watcherCount: 5_000,
  /** Between two looks at a watched context, and so between two events. */
  watchMs: 1_000,
  /** Those who watch one context and are told an event in one turn of the event loop. */
  watchersPerTurnCount: 64,
  /** Watched contexts that are looked at at a time. */
  watchLooksCount: 8,
  /** A connection without events gets a comment after this time. Proxies wait longer. */
  watchBeatMs: 15_000,
  /** Events that wait for slow clients of one front thread. One whose event is beyond it is cut off. */
  watchHeldBytes: 64 * MiB,
  /** A client that watched comes again after this time, as it is told. */
  watchRetryMs: 1_000,
  /** TLS connections of one service. Further connections are closed as they arrive. */
  tlsConnectionCount: 10_000,
  /** TLS handshakes that are under way. Where there are more, the oldest one is broken off. */
  tlsHandshakeCount: 1_000,
  /** From a connection to the end of its TLS handshake. */
  tlsHandshakeMs: 10_000,
  /** From the end of a TLS handshake until a front thread has the connection. */
  tlsConnectMs: 10_000,
  /** Bytes of a TLS connection that wait for its client, beside those of the system. */
  tlsBufferBytes: 256 * KiB,
  /** From a stop request until TLS handshakes that were begun are broken off. */
  tlsDrainHandshakeMs: 2_000,
  /** From the end of the front threads until TLS clients have taken what is left for them. */
  tlsEndMs: 5_000,
  /** Reasons, and addresses, in one line about TLS handshakes that failed. */
  tlsFaultsLoggedCount: 8,
  /** A file with certificates or a key. */
  tlsFileBytes: 1 * MiB,
  /** The path of a socket of the file system. Systems allow 104 or 108 with the end. */
  socketPathBytes: 100,
  /**
   * The last answer of a connection is sent in one piece up to this size, because it fits into the
   * buffer of the HTTP library with its headers. Longer answers follow the back-pressure of the
   * client.
   */
  directReplyBytes: 12 * KiB,
  /** Shorter answers are not compressed: they fit into about one packet. */
  compressMinBytes: 1_400,
  /** Lines of one front thread about answers that were cut off. Further ones are counted. */
  cutsLoggedPerSecondCount: 10,
  /** The name of the function that a JSONP answer calls. */
  callbackCharCount: 128,
  /** Headers that a page of another origin may ask for at once, and the characters of their names. */
  preflightHeaderCount: 64,
  preflightHeaderCharCount: 2_048,
  /** Connections of the admin listener. Further connections are closed as they arrive. */
  adminConnectionCount: 64,
  /** From the connection of an admin client to the end of the head of its request. */
  adminHeadMs: 5_000,
  /** The line and the headers of an admin request. */
  adminHeadBytes: 8 * KiB,
  /** Requests of one admin connection. */
  adminRequestsPerConnectionCount: 1_000,
  /** An admin connection on which nothing is sent for this time is closed. */
  adminSilentMs: 10_000,
  /** From the beginning of an admin answer until its client has all of it. */
  adminAnswerMs: 15_000,
  /** A scrape is given to further scrapers for this time. */
  scrapeKeptMs: 250,
  /** A front thread tells how many bytes of bodies it holds at this interval. */
  heldToldMs: 500,
  /** A reader is cut off if its answer has had no room for this time. */
  clientStallMs: 30_000,
  /** A reader is cut off if it is slower after a wait of `clientStallMs`. */
  clientBytesPerSecond: 32 * KiB,
  /** A configuration or context document. */
  documentBytes: 16 * MiB,
  /** Contexts of one data directory. */
  contextCount: 10_000,
  /** Characters of headers of contexts that a thread keeps as it has parsed them: of 10,000 alerts that refer to a few. */
  headerMemoryCharCount: 16 * MiB,
  /** Areas of one context. */
  areaCount: 2_000,
  /** Areas of all contexts of one data directory. */
  storedAreaCount: 200_000,
  /** All contexts of one data directory, in their stored form. */
  storedBytes: 1 * GiB,
  /** The name of a context. */
  contextNameCharCount: 1_000,
  /** Alerts that a kept alert may refer to. */
  alertReferenceCount: 500,
  /** The identifier or the sender of a kept alert, or of one that it refers to. */
  alertNameCharCount: 1_000,
  /** Address space of the store, with room for stored counts and freed pages. */
  storeMapBytes: 16 * GiB,
  /** Threads of all processes that have one store open. */
  storeReaderCount: 1_024,
  /** From the request for a change to its arrival on disk. */
  storeChangeMs: 10_000,
  /** A start may take this long to read the whole store. */
  storeCheckMs: 120_000,
  /** Keys of one data directory, with those that are revoked. */
  keyCount: 1_000,
  /** The records of all of them: front threads read these again with each change. */
  keyRecordBytes: 16 * MiB,
  keyNameCharCount: 64,
  /** TLS certificates by which the client of one key is let in. */
  keyCertificateCount: 8,
  /** The file with the boundary of a key. */
  keyBoundaryBytes: 1 * MiB,
  /** The highest bounds that a key may have. */
  keyRequestsPerSecondCount: 100_000,
  keyRowsPerDayCount: 1_000_000_000_000,
  keyConcurrentListCount: 10_000,
  /** After a rotation, the old secret of a key lives on for this time, unless the operator says otherwise. */
  keyRotationMs: 7 * 86_400_000,
  /** The most that an operator may say. */
  keyRotationMaxMs: 90 * 86_400_000,
  /** A front thread looks for changes to keys at this interval. */
  keyPollMs: 200,
  /** From a change to keys on disk until every running service goes by it. */
  keyTakeMs: 5_000,
  /** The use of keys is written to the store at this interval. */
  keyUseMs: 10_000,
  /** Right Authorization headers that one front thread knows without a look at their keys. */
  knownCredentialCount: 1_024,
  /** Wrong keys from one address that are answered 401 at once; from then on one in `keyGuessMs`. */
  keyGuessCount: 10,
  keyGuessMs: 1_000,
  /** Addresses that sent wrong keys, and that one front thread remembers. */
  keyGuesserCount: 4_096,
  /** Names of keys in one line about refused requests. */
  refusedKeysLoggedCount: 8,
  /** Files in a backup. */
  backupFileCount: 100_000,
  /** Phones on all suppression lists of one data directory together. */
  suppressionCount: 5_000_000,
  /** Suppression lists of one data directory: one for all sources, one for each source. */
  suppressionListCount: 1_024,
  /** Phones of one change to a suppression list. */
  suppressionBatchCount: 10_000,
  /** Phones in the log of recent changes. A service further behind reads all lists again. */
  suppressionLogCount: 1_000_000,
  /** A service looks for changes by other processes at this interval. */
  suppressionPollMs: 100,
  /** From a change on disk until every running service answers by it. */
  suppressionTakeMs: 8_000,
  /** The same for all changes of one `hickory suppress`. */
  suppressionCommandMs: 60_000,
  /** Numbers of a file that no recipient has, of which `hickory suppress` tries other notations. */
  notationSampleCount: 100_000,
  /** The same for the numbers of a request. */
  notationSampleOfBatchCount: 1_000,
  /** Phones in a page of a suppression list, unless the request sets it. */
  suppressionPageDefaultCount: 100,
  /** The most that a request may set for a page of a suppression list. */
  suppressionPageCount: 10_000,
  /** A file of an audit. The next one is begun behind it, and at the beginning of a day. */
  auditFileBytes: 64 * MiB,
  /** Lines that are written to an audit together. */
  auditGroupBytes: 4 * MiB,
  /** Lines of an audit that no caller waits for, and that are not written yet. Further ones are lost, and counted. */
  auditWaitingCount: 100_000,
  /** From a request for a line of an audit to its arrival on disk. */
  auditLineMs: 5_000,
  /** A service that stops waits this long for lines of its audit that are under way. */
  auditStopMs: 2_000,
  /** From a failure to write to an audit to the next attempt. */
  auditRetryMs: 250,
  /** Address space of the head of an audit. */
  auditHeadMapBytes: 16 * MiB,
  /** Threads of all processes that have the head of an audit open. */
  auditHeadReaderCount: 126,
  /** Changes of one batch. */
  batchChangeCount: 10_000,
  /** Batches that wait to be written to the journal, and their bytes. Further ones are answered 503. */
  batchesWaitingCount: 4_096,
  batchesWaitingBytes: 64 * MiB,
  /** From a batch that is whole to its arrival on disk. */
  changeBatchMs: 16_000,
  /** How long the answer to a batch on disk waits to say how many deletes found no recipient. */
  absentCountMs: 250,
  /** Batches of which that is known and no caller has asked, or the other way round. */
  absentCountsCount: 1_000,
  /** Batches of a database that is followed which wait to be written together. */
  followedGroupBytes: 8 * MiB,
  /** A database that is followed hears this often how much is on disk here. */
  followConfirmMs: 1_000,
  /** A database that is followed and sends nothing for this time is asked anew. It says every 30 s that it is there. */
  followQuietMs: 90_000,
  /** How often it is looked up whether a table that is followed is still the same. */
  followLookMs: 5_000,
  /** From the loss of a database that is followed to the first attempt, and the longest time between two. */
  followRetryMs: 250,
  followRetryMaxMs: 30_000,
  /** A slot that waits for others this long says so, and again whenever it tries anew. */
  followWaitToldMs: 2_000,
  /** How often `hickory follow` logs how far it is, if something happened. */
  followReportMs: 60_000,
  /** How long the thread of changes waits, when it is to stop, for batches that are on their way to it. */
  changesStopMs: 1_000,
  /** From a failure to write to the journal to the next attempt. */
  journalRetryMs: 1_000,
  /** A file of the journal of changes. The next one is begun behind it. */
  journalFileBytes: 64 * MiB,
  /** The least, for tests. */
  journalFileBytesMin: 4 * KiB,
  /** One batch of changes in the journal, with its header. */
  journalRecordBytes: 16 * MiB,
  /** Batches that are written to the journal together. */
  journalGroupBytes: 32 * MiB,
  /** The id that a client gives to a batch of changes, in UTF-8. */
  journalBatchIdBytes: 128,
  /** The last batches whose ids are known, so that none of them is written twice. */
  journalKnownBatchCount: 200_000,
  /** The last batches whose ids each writer reads from the files of the journal. */
  journalUnindexedCount: 8_192,
  /** Address space of the head of the journal and of the ids of batches. */
  journalHeadMapBytes: 64 * MiB,
  /** Threads of all processes that have the head of the journal open. */
  journalHeadReaderCount: 126,
  /** Groups that one machine sends another at a time, unless a single one is larger. */
  groupsSentBytes: 1 * MiB,
  /** From an attempt to reach NATS until it is given up, from its failure to the next one, and between two pings. */
  natsConnectMs: 5_000,
  natsRetryMs: 250,
  natsPingMs: 1_000,
  /** A part of a message to another machine, and the parts of one message. */
  messagePartBytes: 512 * KiB,
  messagePartCount: 256,
  /** Parts of messages that are not whole: how long they are kept, and how much. */
  messageGatherMs: 30_000,
  messageGatherBytes: 128 * MiB,
  /** From a question to another machine to its answer. */
  clusterCallMs: 2_000,
  /** How long a command waits for a machine to do something, and when it asks again whether a snapshot is announced. */
  clusterCommandMs: 20_000,
  publishedLookMs: 250,
  /** A machine of a cluster tells the others of itself at least this often, and looks who is silent. */
  clusterReportMs: 250,
  clusterTickMs: 100,
  /** The thread of a cluster tells the main thread how the cluster fares at this interval. */
  clusterStatusMs: 500,
  /** A machine that was not heard for so long is away: tasks and snapshots do not wait for it. */
  clusterSilenceMs: 5_000,
  /** For so long nothing is removed from a directory any more that was wiped under its machine. */
  wipedMs: 200,
  /** Clocks of machines may differ in speed by less than this. */
  clockSpeedRatio: 1.1,
  /** Machines of a cluster. */
  clusterMemberCount: 64,
  /** What the journal says of the cluster is kept beside it at this interval, and how far it is synced at the other one. */
  factsKeptMs: 10_000,
  positionSyncMs: 1_000,
  /** A machine looks again whether its store has what another one begins with. */
  storedLookMs: 50,
  /** The main thread looks again whether all front threads answer by a batch. */
  appliedLookMs: 2,
  /** Machines switch to a snapshot without those that have not prepared it after this time. */
  clusterSwitchMs: 300_000,
  /** Announced snapshots that a machine remembers, with what became of those that were made there. */
  announcementsKnownCount: 16,
  /** From the moment at which a snapshot has its name until CURRENT has named it to a machine that looks. */
  snapshotMadeMs: 60_000,
  /** A machine that has not answered a task is asked after others for so long. */
  machineAwayMs: 2_000,
  /** After how long a task is given to a second machine: what the first one nearly always takes, within these bounds. */
  hedgeLeastMs: 5,
  hedgeMostMs: 2_000,
  /** The same while next to nothing is known of a machine. */
  hedgeFirstMs: 200,
  /** How long a request that is content with a part waits for other machines. */
  partialWaitMs: 2_000,
  /** Masks of other machines that a front thread keeps. */
  masksOfOthersCount: 64,
  /** For so long other machines may go on asking for a snapshot in the place of which another one is served. */
  othersFinishMs: 5_000,
  /** How long a task of another machine waits for a moment that has not come here yet. */
  momentWaitMs: 1_000,
  /** A machine that fetches a snapshot says how far it is, and tries again after a failure. */
  fetchToldMs: 10_000,
  fetchRetryMs: 5_000,
  /** What could not be removed of old snapshots and of the journal is tried again after this time. */
  retentionRetryMs: 60_000,
  /**
   * Files in the object store that neither the announced snapshot nor the served one has are kept for this time, and so are
   * files of audiences that were frozen and not announced.
   */
  sharedFileKeptMs: 3_600_000,
  /** How often the writer removes them. */
  filesClearedMs: 600_000,
  /** A file that is fetched and says nothing for this time is broken: at 60 kB a second, its next chunk would be there. */
  fileSilentMs: 10_000,
  /** From a request for a file to another machine until that has put it into the object store. */
  fileOfferedMs: 600_000,
  /** A machine that begins listens for others this long, and waits this long for what to begin with. */
  clusterHeardMs: 1_500,
  seedMs: 600_000,
  /** Entries of a cluster that are put into the store in one transaction. */
  entriesAppliedCount: 256,
  entriesAppliedBytes: 16 * MiB,
  /** Places of the log for which a machine keeps what it had, for comparisons of machines. */
  comparisonsKeptCount: 4,
  /** Digests that a machine makes at a time, each on a thread of its own. */
  comparisonJobCount: 2,
  /** Between two questions of a comparison of machines. */
  comparisonPollMs: 250,
  /** After so long without progress, a machine cannot be compared; nor does it go on where no machine has asked for so long. */
  comparisonWaitMs: 30_000,
  /** How often machines are compared anew where a new snapshot came in between. */
  comparisonTryCount: 3,
  /** In which the store notes how far it is, where nothing comes into it. */
  entriesNotedMs: 10_000,
  /** From an entry that is committed to its arrival in the store. */
  entryAppliedMs: 5_000,
  /** A machine waits this long for the others to answer by a change of a document. */
  entryEverywhereMs: 1_000,
  /** From the question of a command to what has become of its entry. */
  enteredMs: 30_000,
  /** How often a command makes its change of keys anew where others change keys meanwhile. */
  keyPlanCount: 10,
  /** How long a command looks for its change of keys where it has heard of no outcome. */
  keyLookedForMs: 15_000,
  /** The last records of the journal of which a machine of a cluster has the hashes in memory. */
  clusterLinksCount: 16_384,
  /** What the stream of a cluster keeps, however old it is: machines that were off for long find there what they lack. */
  clusterStreamBytes: 1 * GiB,
  /** An append to the log of a cluster waits so long for its acknowledgement. */
  logAppendMs: 5_000,
  /** A group that was not acknowledged is sent again after so long, until it is read back: for so long at most. */
  logAgainMs: 250,
  logWaitMs: 15_000,
  /** Groups of a machine that are on their way into the log; what comes meanwhile goes together. */
  logGroupsSentCount: 2,
  /** A message of the log is within so many of its messages, in at most so many parts. */
  logMessageSpan: 1_024,
  logMessageParts: 128,
  /** Messages of the log that are asked for at a time, and bytes that came before their turn. */
  logReadCount: 32,
  logEarlyBytes: 16 * MiB,
  /** Beats of a machine within `--max-lag`: it stays level although some are late. */
  beatsInLagCount: 10,
  /** Beats of a machine that are noted: far more than one sends within `--max-lag`. */
  beatsNotedCount: 512,
  /** How often a server of NATS is asked whether it syncs, until it has proven that. */
  syncAskMs: 2_000,
  /** How often a reader of the log looks whether it has missed something. */
  logLookMs: 2_000,
  /** A reader that follows the journal looks at least this often for more. */
  journalPollMs: 100,
  /** Recipients that came to a source since its snapshot, whether or not they are still there. */
  deltaRecipientCount: 1_000_000,
  /** Between two increments of a snapshot, and how long one may take to apply. */
  incrementMs: 10,
  /** Requests of one front thread that wait for a batch of changes to be seen. */
  sequenceWaitingCount: 1_000,
  /** How long a request may wait for it. */
  sequenceWaitMs: 5_000,
  /** Masks of one boundary at different moments. */
  maskMomentsCount: 4,
  /** Increments of changes that wait for a query worker that has no task. */
  incrementsUntakenCount: 64,
  /**
   * Changed recipients of a service that has a compaction started: read again in a second at a start, and far from
   * what it can hold, so that changes go on for as long as a compaction takes.
   */
  compactionChangeCount: 200_000,
  /** A service says so often that a compaction is due. */
  compactionDueMs: 60_000,
  /**
   * In a cluster all machines are due at the same time: the second one by name begins when the first one has not for so
   * long, the third one after twice that; and how often a machine looks meanwhile.
   */
  compactionRankMs: 900_000,
  compactionTurnMs: 1_000,
  /** Changes of different recipients that a compaction has in memory. With more it publishes several snapshots. */
  compactionHeldCount: 1_000_000,
  /** A journal of which a compaction says what it is kept for. */
  journalLargeBytes: 1 * GiB,
  /** An import waits this long for a compaction, and looks this often whether it has ended. */
  compactionWaitMs: 3_600_000,
  compactionPollMs: 250,
  /** From a compaction that failed to the next attempt of the service, and the longest time between two. */
  compactionRetryMs: 10_000,
  compactionRetryMaxMs: 900_000,
  /** A service that stops waits this long for its compaction to end. */
  compactionStopMs: 10_000,
  /** Bytes kept of what a compaction says of its failure. */
  compactionTailBytes: 8 * KiB,
  /** A program that the self-test starts is ended after this time, and a request that it sends. */
  selfTestMs: 60_000,
  /** Bytes of the log that wait for its reader, in each thread. Lines that find no room are dropped, and counted. */
  logQueuedBytes: 1 * MiB,
  /** Lines of the log are written together, up to this size: PIPE_BUF of Linux. */
  logPieceBytes: 4 * KiB,
  /** From the time at which standard error takes nothing to the next attempt. */
  logRetryMs: 100,
  /** A process that ends waits this long for the readers of its last lines, and looks this often. */
  logEndMs: 1_000,
  logEndLookMs: 5,
  /** A command whose work is done waits this long for the reader of what it printed. */
  outputEndMs: 10_000,
  /** Standard output and standard error are made not to wait at this interval. */
  outputLookMs: 1_000,
  /** Bytes of an access log that are on their way to it. Lines that find no room are dropped, and counted. */
  accessLogQueuedBytes: 8 * MiB,
  /** Lines of one thread travel together, up to this size. */
  accessLogPieceBytes: 32 * KiB,
  /** Lines of one thread wait this long for others. */
  accessLogGatherMs: 100,
  /** From the time at which a pipe takes nothing to the next attempt. */
  accessLogFullMs: 5,
  /** From another failure to write an access log to the next attempt. */
  accessLogRetryMs: 500,
  /** A thread looks at this interval whether its access log was replaced by another file. */
  accessLogLookMs: 1_000,
  /** A service that stops waits this long for its access log. */
  accessLogStopMs: 500,
  /** Contexts in a list, unless the request sets it. */
  contextPageDefaultCount: 100,
  /** The most that a request may set for a list of contexts. */
  contextPageCount: 1_000,
  /** Features in a page of a collection, unless the request sets it; the most that it may set. */
  featurePageDefaultCount: 10,
  featurePageCount: 1_000,
  /** Positions of the named areas in a page of features, and how long they are counted: it ends before more. */
  featurePagePositionCount: 300_000,
  featurePageMs: 4_000,
  /** Named areas of a page that are counted at a time. */
  featuresCountedCount: 8,
  /** Which named areas meet boxes, kept in one front thread for further pages. */
  areaMatchesBytes: 16 * MiB,
  /** Collections in a list of them. */
  collectionPageCount: 1_000,
  /** Areas of contexts as they are drawn, kept in one front thread. */
  drawnContextsBytes: 64 * MiB,
  /** A context that was changed while it was counted as features is counted again, so many times in all. */
  countedContextAttemptCount: 4,
  /** Cache of complete answers of contexts in one front thread. */
  keptAnswerBytes: 64 * MiB,
  /**
   * Counts of shapes within the boundaries of keys, in one front thread: each is of one shape and one
   * boundary, and has a number for each source.
   */
  keyedCountsCount: 20_000,
  /** Shapes of contexts that one front thread counts at a time. */
  shapesCountedCount: 4,
  /** Shapes of contexts that wait to be counted in one front thread. */
  shapesWaitingCount: 4_000,
  /** Counts wait this long for others, so that one write stores them together. */
  countsStoreDelayMs: 100,
  /** From a failure to count a shape to the next attempt. */
  countRetryMs: 10_000,
  /** Shapes whose counting failed and that the service remembers. */
  countFailureCount: 10_000,
  /** Nesting of arrays and objects in a JSON body. */
  jsonDepthCount: 64,
  /** Members of all objects of a JSON body together. */
  jsonMemberCount: 65_536,
  /** Arrays, objects and commas of a JSON body together. */
  jsonItemCount: 400_000,
  /** A file of areas in a format that is read into memory: GeoPackage, FlatGeobuf, KML, TopoJSON. */
  areaFileBytes: 1 * GiB,
  /** One of text, KML or TopoJSON, unpacked: it becomes many times as large when it is read. */
  areaTextBytes: 256 * MiB,
  /** Positions of all features of such a file. Arcs of TopoJSON count each time that they are used. */
  areaPositionCount: 20_000_000,
  /** Elements of KML in such a file, and attributes of all of them. */
  areaElementCount: 1_000_000,
  /** One feature of a GeoJSON file of areas: the shores of Nunavut are some 30 MB. */
  areaFeatureBytes: 64 * MiB,
  /** What a ZIP archive of areas may unpack to, on the disk. */
  areaUnpackedBytes: 4 * GiB,
  /** Entries of such an archive. */
  areaArchiveEntryCount: 1_000,
  /** Comparisons of edges to tell which rings of one area of a shapefile are holes: some ten seconds. */
  areaRingComparisonCount: 200_000_000,
  /** Fields that a message names, and examples of what a dry run shows. */
  areaExampleCount: 60,
  /** Nesting of elements in a body of XML. */
  xmlDepthCount: 64,
  /** Characters of a body of XML, of which a front thread reads some millions in a second. */
  xmlCharCount: 2 * MiB,
  /** Elements of a body of XML. */
  xmlElementCount: 60_000,
  /** Attributes of all elements of a body of XML together. */
  xmlAttributeCount: 100_000,
  /** Nesting of collections in WKT and WKB. */
  collectionDepthCount: 64,
  /** Cells of one member: of H3, geohashes, references to a grid. Their vertices are counted with all others. */
  cellCount: 20_000,
  /** All KML of a KMZ that is read, unpacked: no more than a body, since it takes a front thread as long. */
  kmzBytes: 4 * MiB,
  /** Files in a KMZ. */
  kmzEntryCount: 10_000,
  /** Elements of one alert, and as many attributes: those of all counties of a country, several times over. */
  capElementCount: 20_000,
  /** Faults of one alert that are told, and warnings. */
  capFaultCount: 100,
  /** Comparisons of edges that tell whether polygons of one alert cross themselves, about a microsecond each. */
  capComparisonCount: 1_000_000,
  /** The name of a system of geocodes, and a code. */
  geocodeCharCount: 64,
  /** The name of a member that is read in any letter case. */
  memberNameCharCount: 64,
  /** Names of members and properties whose meaning one thread remembers. */
  knownNameCount: 4_096,
  /** Warnings of one answer. */
  warningCount: 16,
  /** Edges looked at or compared to warn of features outside the boundary. */
  outsideComparisonCount: 400_000,
  /** The header that repeats the warnings of an answer. */
  warningHeaderBytes: 2 * KiB,
  /** Requests of one batch. */
  batchRequestCount: 1_000,
  /** The answers of one batch, which wait until the last one is complete. */
  batchHeldBytes: 64 * MiB,
  /** Layers of the gazetteer. */
  areaLayerCount: 64,
  /** Areas of one layer, and of all. */
  layerAreaCount: 200_000,
  namedAreaCount: 500_000,
  /** Positions and rings of one named area. */
  namedAreaVertexCount: 2_000_000,
  namedAreaRingCount: 200_000,
  /** The name of a layer, or what stands before the colon of an alias. */
  areaLayerCharCount: 32,
  /** The key of an area within its layer, or what stands behind the colon of an alias. */
  areaKeyCharCount: 64,
  /** The name of an area for people. */
  areaNameCharCount: 200,
  /** What a layer says of its source, and of its licence. */
  areaSourceCharCount: 500,
  /** Other names of one area. */
  areaAliasCount: 16,
  /** Areas that are written to the gazetteer in one transaction, unless their bytes are more. */
  areasPerWriteCount: 1_000,
  areasPerWriteBytes: 16 * MiB,
  /** Address space of one version of the gazetteer. */
  gazetteerMapBytes: 64 * GiB,
  /** Threads of all processes that have one version of the gazetteer open. */
  gazetteerReaderCount: 126,
  /** Polygons of named areas that one thread keeps ready. */
  areasKeptBytes: 64 * MiB,
  /** Names of areas, as requests wrote them, that one thread remembers. */
  areaNamesKnownCount: 16_384,
  /** A version of the gazetteer that was replaced may be read by requests that began with it for this time. */
  gazetteerReleaseMs: 60_000,
  /** Areas of one answer, and where the request does not say. */
  areaPageCount: 1_000,
  areaPageDefaultCount: 100,
  /** Positions of an area that is sent, a quarter of a second of a front thread. */
  areaDrawnVertexCount: 300_000,
  /** What is looked for in the names of areas. */
  areaQueryCharCount: 200,
  /** Names that are told of one that no area has. */
  areasNearCount: 5,
  /** Features of one request. */
  featureCount: 1_000,
  /** Rings of one request, over all its features. */
  ringCount: 10_000,
  /** Positions of one request, over all its rings. */
  vertexCount: 50_000,
  /** Names of areas of the gazetteer in one member of a request. */
  areaNameCount: 1_000,
  /** Positions of the named areas of one request. */
  namedVertexCount: 1_000_000,
  /** Arcs of the circles, corridors and margins of one request. */
  arcCount: 100_000,
  /**
   * Comparisons of edges of one request, 0.2 to 0.4 seconds of a front thread. They find the holes
   * of Esri polygons and the edges that bound a polygon with a margin.
   */
  ringComparisonCount: 4_000_000,
  /** The same on the short way to read a request. One that needs more is read the long way. */
  shortRingComparisonCount: 400_000,
  /** Recipients of a source that one feature may select as the nearest. */
  nearestCount: 10_000,
  /** Features of one request that select the nearest recipients. */
  nearestFeatureCount: 100,

  /** Edge tests of one task, one to three seconds of one core. More are refused. */
  edgeTestCount: 2_000_000_000,
  /** From the end of a request to the beginning of its answer. */
  requestMs: 10_000,
  /** Tasks of one front thread that wait or run at its query workers. */
  tasksQueuedCount: 4_096,
  /**
   * Tasks that one query worker has at a time. The second hides the trip between threads. A third
   * would only wait behind a slow one while another worker is idle.
   */
  tasksPerWorkerCount: 2,
  /** Small selections in one task. */
  queriesPerTaskCount: 16,
  /** Coordinates and radii of the small selections in one task. One that needs more travels alone. */
  slotFloatCount: 16_384,
  /** Lengths, ids and indexes of the small selections in one task. */
  slotWordCount: 8_192,
  /** Counts and runs that one task of small selections finds. More travel as a message. */
  slotFindingWordCount: 8_192,
  /**
   * While a short task runs, small selections wait until there are this many, because fewer and
   * larger tasks cost less.
   */
  queriesGatheredCount: 16,
  /** Small selections wait for others only if their tasks take less than this on average. */
  shortTaskMs: 1,
  /** Small selections wait this long at most: some tasks take far longer than the average. */
  gatherMs: 10,
  /** A front looks for results of a worker that has tasks at this interval, woken or not. */
  channelLookMs: 100,
  /** While tasks are under way a front thread looks for results this long before it lets itself be woken. */
  awakeMs: 0.05,
  /** It only does so if tasks of small selections take less than this on average. */
  awakeTaskMs: 0.3,
  /** A selection with more vertices and arcs is a large one. */
  smallVertexCount: 512,
  /** Until it is parsed, a body up to this size counts as that of a small selection. */
  smallBodyBytes: 16 * KiB,
  /** For this time after the last small selection one worker encodes no rows of lists. */
  smallRecentMs: 100,
  /** Small selections travel together as far as a worker takes this long for them. */
  batchMs: 4,
  /** A selection is answered 503 if it would wait longer for others of its kind. */
  backlogMs: 120,
  /** When the first small selection has waited this long, further requests are answered 503. */
  smallWaitMs: 250,
  /** The same for large selections. */
  largeWaitMs: 2_000,
  /** The service looks for overdue work at this interval. */
  deadlineCheckMs: 20,
  /** Attempts at a task whose worker dies. */
  taskAttemptCount: 2,
  /** A request that touches more shards of one source is split over several workers. */
  shardsPerTaskCount: 4,
  /** A request that touches more shards of all sources together is split, too. */
  smallShardCount: 64,
  /**
   * The mask of a boundary in one snapshot: who is within, as runs. A boundary whose mask would be larger
   * is refused.
   */
  maskBytes: 64 * MiB,
  /** Masks of boundaries that one front thread, or one query worker, keeps for one snapshot. */
  masksKeptCount: 64,
  /** All of these together. */
  masksKeptBytes: 256 * MiB,
  /** Masks that one front thread finds at a time. */
  masksSoughtCount: 16,
  /** The runs of named areas in one snapshot. Areas with more are searched as they are drawn. */
  namedMaskBytes: 4 * MiB,
  /** Named areas, and lists of them, whose runs one front thread keeps. */
  namedMasksKeptCount: 8_192,
  /** Memory of all of these. */
  namedMasksKeptBytes: 128 * MiB,
  /** Named areas whose runs are looked for at a time. Others are searched as they are drawn. */
  namedMasksSoughtCount: 64,
  /** Named areas of which a front thread looks ahead who is in them. */
  areasWarmedCount: 4_096,
  /** Share of the time for that: it takes seconds of a processor, which are for requests first. */
  areasWarmedShare: 0.1,
  /**
   * A front thread looks whether there are other areas or another snapshot at this interval, also for the first time:
   * after a start, clients that come back are served first.
   */
  areasLookMs: 10_000,
  /** Counts of named areas that one front thread keeps. */
  namedCountsKeptCount: 16_384,
  /** From the first request for a boundary until its mask is found. */
  maskSearchMs: 30_000,
  /** Images of shards in one arena, beside the scratch zones. */
  arenaImageBytes: 2 * GiB,
  /** Scratch zone of one query worker in each arena. Only touched pages take memory. */
  scratchZoneBytes: 16 * MiB,
  /** The last part of each scratch zone, in which rows are written. */
  scratchRowBytes: 96 * KiB,
  /** Scratch zones of one arena. Further query workers work without one. */
  scratchZoneCount: 128,
  /** Edges of a table in a scratch zone. A larger table is allocated elsewhere. */
  scratchEdgeCount: 50_000,
  /** The most that a request may set as `limit`. Without `limit`, a list has no bound. */
  pageRecipientCount: 10_000_000,
  /**
   * Rows of a list that are encoded at a time while its client keeps up, as far as their buffer has
   * room.
   */
  rowsPerChunkCount: 8_192,
  /** The same while it is not known to. A client that stops reading holds one such piece. */
  rowsPerFirstChunkCount: 2_048,
  /**
   * A client keeps up when it takes so many bytes without a wait: more than the buffers of sockets
   * take for a client that reads nothing, which is 4.3 MB with the defaults of Linux.
   */
  keptUpBytes: 5 * MiB,
  /** Pieces of one list that are encoded at a time while its client keeps up. */
  piecesAheadCount: 2,
  /** Rows whose bytes a query worker counts at a time, for the length of a list: a quarter of a millisecond. */
  rowsMeasuredCount: 131_072,
  /** Runs of a piece of a list, to be counted or encoded: a front thread cuts them off. */
  runsPerPieceCount: 8_192,
  /** Pieces of one list whose bytes are counted at a time. */
  piecesMeasuredCount: 4,
  /**
   * Rows of the longest list that tells its length: a tenth of a second of one query worker. A longer one
   * begins at once, in chunks.
   */
  listMeasuredCount: 50_000_000,
  /** Buffer for rows that are encoded at a time. */
  rowBufferBytes: 1 * MiB,
  /** Such buffers that one front thread keeps for reuse. */
  rowBufferCount: 64,
  /** Cells of the answer to a grid request: as many as the largest tile has. */
  gridCellCount: 65_536,
  /** Rows of cells, and columns, in a tile: a power of two, as all of them are. */
  gridSideCount: 256,
  /** The zoom of the map at which a cell is a tile: at 25 it is a metre wide at the equator. */
  gridCellZoom: 25,
  /** Recipients on the grid of one request: some seconds of one query worker at the finest cells. */
  gridRecipientCount: 5_000_000,
  /** Recipients that are put on a grid at a time: a hundredth of a second where h3 is asked for each. */
  gridPieceCount: 4_096,
  /** The same on a tile, where it takes a nanosecond or two each. */
  tilePieceCount: 131_072,
  /** Hexagons of which one query worker remembers what h3 calls them: as many as an answer has, and more. */
  hexagonsKnownCount: 100_000,
  /** The largest `minCount`. */
  gridMinCount: 1_000_000,
  /** Vertices of the drawn shapes of an outline, and of the outline itself. */
  outlineVertexCount: 100_000,
  /** From the start of a union on a clipping thread until the thread is ended. */
  outlineMs: 3_000,
  /** The same while other outlines wait, so that a few slow ones do not block the others. */
  outlineSharedMs: 1_000,
  /** Reserved from the time of a request, to list shapes that could not be united. */
  outlineDrawMs: 2_000,
  /** Outlines that wait for the clipping thread of one front thread, beside the one in work. */
  outlinesQueuedCount: 16,
  /** JavaScript heap of a clipping thread. A thread that needs more is ended. */
  clipHeapBytes: 512 * MiB,
  /** Ends of edges, and edges, that polygon-clipping may hold before its work counts as endless. */
  clipEventCount: 500_000,
  /** An idle clipping thread is ended after this time. */
  clipIdleMs: 60_000,
  /** From a stop request until idle connections are closed, so that clients learn of it. */
  drainQuietMs: 1_500,
  /** From a stop request until open requests are aborted. */
  drainMs: 12_000,
  /** From a stop request until the service gives up on a clean end: less than the 30 s that others may give it. */
  stopMs: 28_000,
  /** From a failure to the end of the process, while connections are closed. */
  breakOffMs: 3_000,
  /** From the start of a query worker until it is ready. */
  workerStartMs: 30_000,
  /** A pool that closes waits this long for workers that are starting. */
  workerLoadMs: 5_000,
  /** The shortest time between two replacements of all query workers of a front thread. */
  workersReplaceMs: 5_000,
  /** From a request to close a pool until the pool is destroyed. */
  poolCloseMs: 10_000,

  /** One text record of an input: a line of CSV or NDJSON, a feature of a collection. */
  recordBytes: 64 * KiB,
  /** The part of a GeoJSON FeatureCollection beside its features. */
  collectionFrameBytes: 1 * MiB,
  /** Files of one source. */
  sourceFileCount: 10_000,
  /** The phone of a recipient in UTF-8. */
  phoneBytes: 64,
  /** A contact id in UTF-8. */
  contactBytes: 128,
  /** The key of a row in UTF-8. */
  keyBytes: 128,
  /** The label of a source in UTF-8. */
  labelBytes: 128,
  /** The highest source id. The lowest is 0. */
  sourceIdMax: 2_147_483_647,
  /** Sources in one snapshot. */
  sourceCount: 256,
  /** Recipients of one shard. A source is cut into as few equal shards as hold it. */
  shardRecipientCount: 1_000_000,
  /** Recipients of one source. Offsets into their text are 32-bit. */
  sourceRecipientCount: 200_000_000,
  /** Threads that work on one import. */
  importThreadCount: 16,
  /** An import starts threads for a source of this many recipients or more. */
  threadlessRecipientCount: 100_000,
  /** An import waits this long for a database to accept its connection and login. */
  databaseConnectMs: 15_000,
  /**
   * An import gives up on a database that sends no byte for this time. The time allows for a sort
   * before the first row.
   */
  databaseStallMs: 600_000,
  /** Rows that a dry run shows. */
  previewRowCount: 1_000,
  /** Beginnings of numbers that one import remembers in E.164, some 100 bytes each. */
  numberPrefixCount: 1_000_000,
  /** Rows of one `hickory apply`. */
  appliedChangeCount: 1_000_000,
  /** Failed sources, or bad changes, that the final message names. */
  failuresShownCount: 20,
  /** A file that lists the sources of an import. */
  sourcesFileBytes: 1 * MiB,
  /** Examples of each reason for which rows are rejected. */
  rejectExampleCount: 5,
  /** Per cent of its rows that an import may reject unasked. */
  rejectedPercent: 1,
  /** Per cent of its recipients that a source may lose in an import unasked. */
  shrinkPercent: 10,
  /** Recipients that one batch of changes may delete, however large a part of the source they are. */
  freelyDeletedCount: 100,
  /** The largest number of rows that a guard may name. */
  guardRowCount: 1_000_000_000_000,
  /**
   * A source that has lost more per cent than this since it was last good is not good, whatever its
   * guards allow.
   */
  goodShrinkPercent: 50,
  /** Snapshots on disk that are not pinned, including the current one, by default. */
  snapshotCount: 3,
  /** The least that an operator may keep: what an import replaces stays within reach of a rollback. */
  snapshotCountMin: 2,
  /** The most that an operator may keep without pinning them. */
  snapshotCountMax: 1_000,
  /** Snapshots that are pinned at a time. */
  pinCount: 1_000,
  /** The note of a pin, in UTF-8. */
  pinNoteBytes: 256,
  /** The service looks for a new snapshot at this interval. */
  snapshotPollMs: 1_000,
  /** From the refusal of a snapshot to the next attempt to load it. */
  snapshotRetryMs: 60_000,
  /** While a newer snapshot waits, requests may read a replaced one for this time. */
  snapshotReleaseMs: 60_000,
  /** Audiences of one data directory that have not expired. */
  audienceCount: 256,
  /** The runs of one audience: a million runs of 8 bytes are some tens of millions of recipients. */
  audienceRunBytes: 64 * MiB,
  /** The shards that one audience is in: what its header has of them is at most 256 bytes each. */
  audienceShardCount: 3_072,
  /** Recipients of one audience that came since its snapshot: each is kept, in 12 bytes and its phone. */
  audienceDeltaCount: 1_000_000,
  /** Snapshots that audiences keep on the disk. */
  audienceSnapshotCount: 16,
  /** The files of all audiences of one data directory. */
  audiencesBytes: 1 * GiB,
  /** How long an audience is there unless its request says otherwise. */
  audienceLifetimeDefaultSeconds: 86_400,
  /** The most that a request may say. */
  audienceLifetimeSeconds: 604_800,
  /** Expired audiences are removed at this interval. */
  audienceSweepMs: 60_000,
  /** A file that was begun to be written longer ago than this is garbage. */
  audienceWriteMs: 600_000,
  /** Runs of audiences that one front thread keeps for the next page. */
  audiencesKeptBytes: 128 * MiB,
  /** Audiences that it keeps. */
  audiencesKeptCount: 64,
  /** Shard files that one front thread has open for audiences. */
  audienceOpenShardCount: 64,
  /** Recipients that are read of a file, or asked of a query worker, at a time: about 1.5 MB. */
  audienceReadCount: 65_536,
  /** Requests for audiences that one front thread has under way. Further ones are answered 503. */
  audienceListCount: 64,
  /** A front thread that ends waits this long for its audience thread. */
  audienceStopMs: 2_000,
  /**
   * From an entry that announces an audience until most members of a cluster have its files, and after how much of that it
   * is enough that the object store has them.
   */
  audienceSpreadMs: 8_000,
  audienceStoredMs: 3_000,
  /** How often a process that waits for that looks. */
  audienceKeptLookMs: 20,
  /** A request waits this long for an audience to come from other machines, and leaves this much to read it. */
  audienceBroughtMs: 8_000,
  audienceReadMs: 1_000,
  /** Threads that load a snapshot, if the machine has as many cores. */
  loadThreadCount: 8,
  /** The header of a shard file in its encoded form. */
  shardHeaderBytes: 1 * MiB,
  /** What a tool that makes packages may print. */
  toolOutputBytesMax: 16 * MiB,
} as const

assert(limits.keyRecordBytes >= limits.keyBoundaryBytes + 1_024 * limits.keyCount)
assert(limits.storeMapBytes >= 4 * limits.storedBytes)
assert(limits.journalGroupBytes >= limits.journalRecordBytes)
assert(limits.logWaitMs < limits.changeBatchMs)
assert(
  limits.enteredMs >
    limits.changeBatchMs + limits.entryAppliedMs + limits.entryEverywhereMs + limits.clusterCallMs,
)
assert(limits.messagePartBytes * limits.messagePartCount >= 2 * limits.journalGroupBytes)
// A row takes less in the journal than in a body, but for a calling code that is added.
assert(limits.journalRecordBytes >= 2 * limits.bodyBytes)
assert(limits.batchesWaitingBytes >= limits.journalGroupBytes)
assert(limits.journalGroupBytes >= limits.followedGroupBytes + limits.journalRecordBytes)
// A change has six members, and the request two.
assert(limits.jsonMemberCount >= 6 * limits.batchChangeCount + 2)
assert(limits.journalHeadMapBytes >= 256 * limits.journalKnownBatchCount)
assert(limits.journalKnownBatchCount >= limits.journalUnindexedCount)
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
assert(limits.featurePagePositionCount >= limits.areaDrawnVertexCount)
assert(limits.featurePageMs < limits.requestMs)
assert(4 * limits.layerAreaCount <= limits.areaMatchesBytes)
assert(limits.areasKeptBytes >= 32 * limits.namedAreaVertexCount)
assert(limits.arcCount >= limits.vertexCount)
assert(limits.outlineVertexCount >= limits.vertexCount)
// A fault that is found late is looked for twice.
assert(10 * limits.shortRingComparisonCount <= limits.ringComparisonCount)
assert(limits.outlineMs + limits.outlineDrawMs < limits.requestMs)
assert(limits.outlineSharedMs <= limits.outlineMs)
assert(limits.gridSideCount ** 2 <= limits.gridCellCount)
assert(limits.masksKeptBytes >= limits.maskBytes)
assert(limits.audiencesKeptBytes >= 2 * limits.audienceRunBytes)
assert(2 * limits.audienceShardCount * 128 < limits.shardHeaderBytes)
const audienceRowBytes = limits.audienceDeltaCount * (12 + limits.phoneBytes)
assert(limits.audiencesBytes >= limits.audienceRunBytes + audienceRowBytes)
assert(limits.phoneBytes < 256, 'the length of a phone is a byte in rows that are kept')
assert(limits.audienceLifetimeSeconds >= limits.audienceLifetimeDefaultSeconds)
assert(limits.audienceReadCount >= limits.rowsPerChunkCount)
assert(limits.audienceStoredMs < limits.audienceSpreadMs)
assert(limits.audienceBroughtMs + limits.audienceReadMs < limits.requestMs)
// A position is an array of at most three meaningful coordinates, and a comma.
assert(limits.jsonItemCount >= 4 * limits.vertexCount + 2 * limits.jsonMemberCount)
assert(limits.jsonMemberCount >= 32 * limits.featureCount)
assert(limits.phoneBytes * limits.shardRecipientCount < 2 ** 32, 'text offsets are 32-bit')
assert(limits.shardRecipientCount < 2 ** 26, 'two ends of a run are packed into one number')
