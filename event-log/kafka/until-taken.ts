import { backOff } from '../../runtime/repeat.ts'
import type { Logger } from './connection.ts'
import { withHeartbeats, type Chunk } from './group-member.ts'

/**
 * Retries `take` on a chunk, with growing pauses. Resolves with false when the chunk no longer
 * belongs to this member.
 */
export async function untilTaken(
  { partition, messages, heartbeat, isCurrent }: Chunk,
  { groupId, signal, logger }: { groupId: string; signal: AbortSignal; logger: Logger },
  take: () => Promise<void>,
): Promise<boolean> {
  const pauses = backOff({ firstMs: 100, longestMs: 2000 })
  for (;;) {
    try {
      await withHeartbeats(heartbeat, take)
      return true
    } catch (error) {
      logger.warn(
        { err: error, groupId, partition, offset: messages[0]!.offset },
        'subscription pauses',
      )
    }
    await pauses.pause(signal)
    if (!isCurrent()) return false
    await heartbeat()
  }
}
