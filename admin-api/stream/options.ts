import type { ChannelOptions } from './channel.ts'
import type { StreamConnectionOptions } from './answer-with-frames.ts'
import type { ReaderOptions } from './reader.ts'
import type { SeatLimits } from './seats.ts'

export type StreamOptions = ChannelOptions &
  ReaderOptions &
  StreamConnectionOptions &
  SeatLimits & {
    /** How long an answer waits for the log's end before it begins without it. */
    readonly beginsWithinMs: number
    /**
     * How often a reader's access and progress are checked. With `sharedCheckMs` and the time that
     * the client takes for the end of an answer, a stream ends within 5 s of its cause.
     */
    readonly checkEveryMs: number
    readonly shareCheckEveryMs: number
    /** How long an answer from the store is shared by all readers with the same secret. */
    readonly sharedCheckMs: number
    /** How long a reader may stall while it is catching up or has missed something. */
    readonly stalledMs: number
    readonly stalledCatchingUpMs: number
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
