export type StreamOptions = {
  /** Size of the ring that readers share: entries, and approximate bytes. */
  readonly ringEntries: number
  readonly ringBytes: number
  /** How long the log is still read after the last reader has left. */
  readonly lingersMs: number
  readonly retryMs: number
  /** How often unreadable entries are reported to readers and logged. */
  readonly unreadableEveryMs: number
  /** How much is rendered at a time, and buffered for a slow client. */
  readonly chunkBytes: number
  /** Clients with a read time-out of 5 s must not give up between two heartbeats. */
  readonly heartbeatMs: number
  /**
   * Events this close after a chunk are sent together: each chunk costs the client as much as ten
   * events.
   */
  readonly gatherMs: number
  readonly statusEveryMs: number
  readonly rejectionsEveryMs: number
  readonly factsEveryMs: number
  /** How long a reader of the past waits for a pending erasure. */
  readonly pendingMs: number
  /** How long a response waits for the end of the log before it starts without it. */
  readonly beginsWithinMs: number
  /**
   * How often a reader's access and progress are checked. With `sharedCheckMs` and the client's
   * time to read the end of a response, a stream ends within 5 s of its cause.
   */
  readonly checkEveryMs: number
  readonly shareCheckEveryMs: number
  /** How long a result from the store is shared by all readers with the same secret. */
  readonly sharedCheckMs: number
  /** How long a reader may stall while it is catching up or has missed something. */
  readonly stalledMs: number
  readonly stalledCatchingUpMs: number
  /** Maximum number of readers; share links get at most half. */
  readonly readers: number
  /** The limits of an account: one for its keys and sessions, one for its links. */
  readonly readersPerAccount: number
  /** Maximum number of readers per key or session. */
  readonly readersPerCaller: number
  /** How many readers may read past entries, no longer in the ring, at the same time. */
  readonly catchingUp: number
  readonly catchingUpPerAccount: number
}

export const STREAM_OPTIONS: StreamOptions = {
  ringEntries: 10_000,
  ringBytes: 32 * 1024 * 1024,
  lingersMs: 60_000,
  retryMs: 1_000,
  unreadableEveryMs: 5_000,
  chunkBytes: 16 * 1024,
  heartbeatMs: 4_000,
  gatherMs: 40,
  statusEveryMs: 3_000,
  rejectionsEveryMs: 500,
  factsEveryMs: 500,
  pendingMs: 10_000,
  beginsWithinMs: 1_000,
  checkEveryMs: 3_000,
  shareCheckEveryMs: 2_000,
  sharedCheckMs: 1_000,
  stalledMs: 30_000,
  stalledCatchingUpMs: 5_000,
  readers: 1_000,
  readersPerAccount: 200,
  readersPerCaller: 20,
  catchingUp: 20,
  catchingUpPerAccount: 5,
}
