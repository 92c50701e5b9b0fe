// Every bound of the system, in one place: what lies past one of these is refused with a clear error, never cut or coerced.
// Lengths are bytes of UTF-8, times carry their unit last in the name.

export const LIMITS = {
  /** Queue, partition and consumer-group names. */
  nameBytes: 512,
  transactionIdBytes: 65_535,
  traceIdBytes: 512,
  errorTextBytes: 16_384,
  namespaceBytes: 512,
  requestIdBytes: 256,

  bodyBytes: 64 * 1024 * 1024,
  /** Bodies being read at one time, all requests together. */
  inFlightBodyBytes: 64 * 1024 * 1024,
  /** Answers that clients have not read yet; past it pops lease nothing. */
  inFlightAnswerBytes: 128 * 1024 * 1024,
  /** JSON values of a body beside its payloads: what is parsed takes memory by the value. */
  bodyValues: 500_000,
  headerBytes: 16_384,
  jsonDepth: 512,
  payloadBytes: 64 * 1024 * 1024,

  pushItems: 10_000,
  ackItems: 10_000,
  transactionOperations: 10_000,
  transactionKvOperations: 64,
  transactionKvKeys: 256,
  /** Independent transactions that may share one commit. */
  transactionsPerCall: 32,

  popBatch: 10_000,
  popBatchDefault: 200,
  /** Payloads that one pop brings; its first message comes whatever its size. */
  popBytes: 8 * 1024 * 1024,
  /** Payloads of all the pops that one call serves. */
  popCallBytes: 32 * 1024 * 1024,
  popPartitions: 64,
  popTimeoutMs: 60_000,
  popTimeoutDefaultMs: 30_000,
  parkedPolls: 20_000,
  /** Calls that may stand before the gate to the pool; more are refused with `overloaded`. */
  waitingCalls: 4_096,

  leaseSeconds: 604_800,
  /** Of a queue that configure made; one made by a push or a pop has 60. */
  leaseSecondsConfiguredDefault: 300,
  extendSecondsDefault: 60,

  kvOperations: 256,
  kvGetManyKeys: 4_096,
  kvValueBytes: 65_536,
  kvKeyBytes: 512,
  kvReadBytes: 4 * 1024 * 1024,
  kvPrefixLimit: 1_000,
  kvPrefixLimitDefault: 100,
  ttlSeconds: 3_155_760_000,

  timerOperations: 256,
  timerKeyBytes: 512,
  timerPayloadBytes: 1_048_576,
  /** A timer fires within this time. */
  timerHorizonMs: 7_776_000_000,

  lockOperations: 64,
  /** Names and owners of locks. */
  lockNameBytes: 256,
  /** Of a semaphore. */
  lockPermits: 1_024,

  requestIdSeconds: 86_400,
  /** Staged rows placed by one visitor at most. */
  placedPerVisit: 1_000,

  /** How long an engine statement waits for a row that somebody holds, and runs in all. */
  lockTimeoutMs: 1_000,
  statementTimeoutMs: 30_000,
  /** Past the statement's own limit, for an answer that never comes. */
  answerGraceMs: 5_000,
  connectTimeoutMs: 5_000,
  keepAliveMs: 10_000,
  poolConnections: 10,
  /** Deadlocks and serialization failures: runs in all, and the longest pause before the next. */
  conflictAttempts: 10,
  conflictPauseMs: 500,

  /** PostgreSQL refuses a notification of 8,000 bytes. */
  notifyBytes: 7_900,
  notifyIntervalMs: 20,
  /** LISTEN proves itself alive this often; an answer later than the second is a loss. */
  listenProofMs: 8_000,
  listenAnswerMs: 5_000,

  /** Of an input or an output of a run, a node or a step. */
  runValueBytes: 1_048_576,
  runsPerCall: 1_000,
  runKeyBytes: 512,
  runTags: 32,
  runDelayMs: 315_360_000_000,
  runAttempts: 10_000,
  runPriority: 100,
  graphNodes: 1_000,
  mapItems: 10_000,
  runWaitMs: 60_000,
  /** Slots of a schedule shown ahead. */
  previewSlots: 1_000,

  traceNames: 100,
  traceBytes: 262_144,

  streamStateOps: 10_000,
  streamStateKeyBytes: 1_024,
  streamStateValueBytes: 1_048_576,
  /** Keys and values that one read of a stream's state brings; past it the read is refused, never cut. */
  streamStateBytes: 64 * 1024 * 1024,
  streamHashBytes: 512,
  /** Partitions that one claim of a stream asks for, and how long it holds them. */
  streamClaims: 1_000,
  streamClaimSeconds: 600,
  streamClaimSecondsDefault: 30,
  /** Of a bearer token, of the subject in it, and how many are remembered as checked. */
  tokenBytes: 8_192,
  subjectBytes: 512,
  rememberedTokens: 10_000,
  secretBytesLeast: 8,
  secretFileBytes: 65_536,
  /** How often the files of the certificate are looked at. */
  tlsLookMs: 5_000,
  /** Between the issuer's clock and ours. */
  clockSkewSeconds: 300,
  clockSkewSecondsDefault: 30,
  /** Published keys: of one answer; asked for again when older, at most this often; not used any more when this old. */
  jwksBytes: 262_144,
  jwksKeys: 100,
  jwksTimeoutMs: 5_000,
  jwksFreshMs: 600_000,
  jwksCooldownMs: 30_000,
  /** While there is no usable set. */
  jwksRetryMs: 1_000,
  jwksStaleMs: 86_400_000,

  ephemeralItems: 10_000,
  /** Of one broker, all its ephemeral queues together. */
  ephemeralBytes: 128 * 1024 * 1024,
  ephemeralQueues: 10_000,
  ephemeralPartitions: 10_000,
  ephemeralGroups: 1_000,
  ephemeralQueueBytes: 128 * 1024 * 1024,
  ephemeralQueueBytesDefault: 16 * 1024 * 1024,
  ephemeralLength: 1_000_000,
  ephemeralLengthDefault: 100_000,
  ephemeralLeaseSecondsDefault: 30,
  ephemeralRetryLimit: 1_000,
  ephemeralWindowMs: 60_000,
  /** A group that nobody pops for so long is forgotten, so that it holds no message any more. */
  ephemeralGroupIdleMs: 600_000,
  /** How long destructive calls are kept noted, unless the database says otherwise. */
  auditDays: 90,

  /** Of the key ring; how long it is remembered which queues are encrypted, and of how many. */
  encryptionKeys: 16,
  encryptionMemoryMs: 30_000,
  encryptionMemoryQueues: 10_000,

  /** Of pushes gathered in a client, for each queue: messages and bytes held, and pushes that wait for room. */
  bufferSize: 1_000_000,
  bufferMessagesDefault: 100,
  bufferBytes: 1_073_741_824,
  bufferBytesDefault: 16 * 1024 * 1024,
  bufferWaiting: 10_000,
  /** Sent together. */
  bufferBatchBytes: 32 * 1024 * 1024,
  bufferTimeMs: 3_600_000,
  bufferTimeDefaultMs: 1_000,
  /** Before what could not be sent is sent again the first time. */
  bufferRetryMs: 60_000,
  bufferRetryDefaultMs: 1_000,

  /** Partitions that one fetch reads, and the payloads and records of it all. */
  fetchEntries: 1_024,
  fetchBytes: 8 * 1024 * 1024,
  fetchBytesDefault: 1_048_576,
  fetchRecords: 10_000,
  parkedFetches: 1_000,
  /** Queues that one call asks for changed partitions, and partitions that it looks through. */
  changedEntries: 100,
  changedScan: 10_000,

  listLimit: 1_000,
  listLimitDefault: 100,
  /** Payloads of one page of a list; past it the page ends early, after one entry at least, and says so. */
  listBytes: 8 * 1024 * 1024,
} as const
