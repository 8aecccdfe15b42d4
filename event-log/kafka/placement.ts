import { setTimeout as pause } from 'node:timers/promises'
import type { Consumer } from 'kafkajs'

/**
 * The offsets at which to start in newly assigned partitions; those omitted start at the group's
 * committed offset.
 */
export type StartAt = (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>

export type Placement = {
  /**
   * Resolves once the member has reached its start offset in every partition assigned to it. Until
   * then it calls `heartbeat`, and rejects if that rejects: then the membership is lost.
   */
  reached(heartbeat: () => Promise<void>): Promise<void>
}

const HEARTBEAT_MS = 1000

/**
 * Seeks to a member's start offsets after each assignment. From then on, anything kafkajs fetched
 * earlier, from the committed offset, is stale.
 */
export function placeMember(
  consumer: Consumer,
  {
    topic,
    startAt,
    onFailure,
  }: { topic: string; startAt: StartAt; onFailure: (error: unknown) => void },
): Placement {
  let pending: Promise<void> | undefined
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    const placing = startAt(payload.memberAssignment[topic] ?? []).then((starts) => {
      if (pending !== placing) return
      for (const [partition, offset] of starts) {
        consumer.seek({ topic, partition, offset: String(offset) })
      }
      pending = undefined
    })
    placing.catch(onFailure)
    pending = placing
  })

  return {
    async reached(heartbeat) {
      while (pending !== undefined) {
        await Promise.race([pending, pause(HEARTBEAT_MS, undefined, { ref: false })])
        if (pending !== undefined) await heartbeat()
      }
    },
  }
}
