import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from './connection.ts'
import { withHeartbeats, type Chunk } from './group-member.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

/**
 * Tries to `take` a chunk, with growing pauses, until that resolves. False when the chunk is no
 * longer this member's to deal with.
 */
export async function untilTaken(
  { partition, messages, heartbeat, isCurrent }: Chunk,
  { groupId, signal, logger }: { groupId: string; signal: AbortSignal; logger: Logger },
  take: () => Promise<void>,
): Promise<boolean> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await withHeartbeats(heartbeat, take)
      return true
    } catch (error) {
      logger.warn(
        { err: error, groupId, partition, offset: messages[0]!.offset, pauseMs },
        'subscription pauses',
      )
    }
    await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    if (!isCurrent()) return false
    await heartbeat()
  }
}
